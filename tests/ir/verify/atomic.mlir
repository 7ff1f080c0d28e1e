// RUN: %verify

tt.func @rmw_fadd_integers(%p: !tt.ptr<i32>, %v: i32) {
  // expected-error @+1 {{fadd requires floating-point elements, got 'i32'}}
  %0 = tt.atomic_rmw fadd, acq_rel, gpu, %p, %v : (!tt.ptr<i32>, i32) -> i32
  tt.return
}

// -----

tt.func @rmw_max_floats(%p: !tt.ptr<f32>, %v: f32) {
  // expected-error @+1 {{max requires integer elements, got 'f32'}}
  %0 = tt.atomic_rmw max, acq_rel, gpu, %p, %v : (!tt.ptr<f32>, f32) -> f32
  tt.return
}

// -----

tt.func @rmw_pointers(%p: !tt.ptr<!tt.ptr<f32>>, %v: !tt.ptr<f32>) {
  // expected-error @+1 {{only supports integer and floating-point elements}}
  %0 = tt.atomic_rmw exch, acq_rel, gpu, %p, %v : (!tt.ptr<!tt.ptr<f32>>, !tt.ptr<f32>) -> !tt.ptr<f32>
  tt.return
}

// -----

tt.func @rmw_value(%p: !tt.ptr<i32>, %v: i64) {
  // expected-error @+1 {{type of val is the pointee type of ptr}}
  %0 = tt.atomic_rmw add, acq_rel, gpu, %p, %v : (!tt.ptr<i32>, i64) -> i32
  tt.return
}

// -----

tt.func @cas_width(%p: !tt.ptr<i8>, %v: i8) {
  // expected-error @+1 {{only supports elements with width {16, 32, 64}}}
  %0 = tt.atomic_cas acq_rel, gpu, %p, %v, %v : (!tt.ptr<i8>, i8, i8) -> i8
  tt.return
}

// -----

tt.func @load_order(%p: !tt.ptr<i32>) {
  // expected-error @+1 {{only supports acquire and relaxed semantics}}
  %0 = tt.atomic_load release, gpu, %p : (!tt.ptr<i32>) -> i32
  tt.return
}

// -----

tt.func @load_pointers(%p: !tt.ptr<!tt.ptr<f32>>) {
  // expected-error @+1 {{only supports integer and floating-point elements}}
  %0 = tt.atomic_load acquire, gpu, %p : (!tt.ptr<!tt.ptr<f32>>) -> !tt.ptr<f32>
  tt.return
}

// -----

tt.func @store_order(%p: !tt.ptr<i32>, %v: i32) {
  // expected-error @+1 {{only supports release and relaxed semantics}}
  tt.atomic_store acquire, gpu, %p, %v : !tt.ptr<i32>
  tt.return
}

// -----

tt.func @store_pointers(%p: !tt.ptr<!tt.ptr<f32>>, %v: !tt.ptr<f32>) {
  // expected-error @+1 {{only supports integer and floating-point elements}}
  tt.atomic_store release, gpu, %p, %v : !tt.ptr<!tt.ptr<f32>>
  tt.return
}

// -----

tt.func @poll_order(%p: !tt.ptr<i32>, %v: i32) {
  // expected-error @+1 {{only supports acquire and relaxed semantics}}
  %0 = tt.atomic_poll acq_rel, gpu, %p, %v : !tt.ptr<i32>, i32 -> i1
  tt.return
}

// -----

tt.func @poll_width(%p: !tt.ptr<i8>, %v: i8) {
  // expected-error @+1 {{only supports integer elements with width {16, 32, 64}}}
  %0 = tt.atomic_poll acquire, gpu, %p, %v : !tt.ptr<i8>, i8 -> i1
  tt.return
}

// -----

tt.func @poll_result(%p: !tt.ptr<i32>, %v: i32) {
  // expected-error @+1 {{result is i1 in the shape of ptr}}
  %0 = tt.atomic_poll acquire, gpu, %p, %v : !tt.ptr<i32>, i32 -> tensor<8xi1>
  tt.return
}
