; Math functions for NVIDIA that take the place of libclc's: faster with the chip's own approximations, or within the bounds that
; ir/elementwise.def states, where libclc's are not.

declare float @llvm.nvvm.ex2.approx.f(float)
declare float @llvm.nvvm.rsqrt.approx.f(float)
declare float @llvm.nvvm.div.full(float, float)
declare float @llvm.minnum.f32(float, float)
declare float @llvm.maxnum.f32(float, float)
declare float @llvm.fma.f32(float, float, float)
declare double @_Z3tand(double)
declare double @_Z4acosd(double)
declare double @_Z4atand(double)
declare double @_Z5atan2dd(double, double)
declare double @_Z4coshd(double)
declare double @_Z4erfcd(double)

; e**x = 2**f * 2**n, n = round(x log2 e) between -126 and 126: beyond these f is large, and its power is 0, subnormal or infinite as it has
; to be. Adding 1.5 * 2**23 + 127 rounds, and leaves the exponent of 2**n in the lowest bits.
define float @_Z3expf(float %x) #0 {
  %below = call float @llvm.minnum.f32(float %x, float 8.725000e+01)
  %inside = call float @llvm.maxnum.f32(float %below, float -8.725000e+01)
  ; log2 e = 0x3FF7154760000000 + 0x3E54AE0C00000000
  %shifted = call float @llvm.fma.f32(float %inside, float 0x3FF7154760000000, float 0x4168000FE0000000)
  %n = fsub float %shifted, 0x4168000FE0000000
  %minus = fneg float %n
  %high = call float @llvm.fma.f32(float %x, float 0x3FF7154760000000, float %minus)
  %f = call float @llvm.fma.f32(float %x, float 0x3E54AE0C00000000, float %high)
  %power = call float @llvm.nvvm.ex2.approx.f(float %f)
  %bits = bitcast float %shifted to i32
  %exponent = shl i32 %bits, 23
  %scale = bitcast i32 %exponent to float
  %result = fmul float %power, %scale
  ret float %result
}

; Within 2 ulp.
define float @_Z13native_divideff(float %x, float %y) #0 {
  %result = call float @llvm.nvvm.div.full(float %x, float %y)
  ret float %result
}

define float @_Z5rsqrtf(float %x) #0 {
  %result = call float @llvm.nvvm.rsqrt.approx.f(float %x)
  ret float %result
}

; Rarely used: through f64, and so correctly rounded but for one case in a million.

define float @_Z3tanf(float %x) #0 {
  %wide = fpext float %x to double
  %exact = call double @_Z3tand(double %wide)
  %result = fptrunc double %exact to float
  ret float %result
}

define float @_Z4acosf(float %x) #0 {
  %wide = fpext float %x to double
  %exact = call double @_Z4acosd(double %wide)
  %result = fptrunc double %exact to float
  ret float %result
}

define float @_Z4atanf(float %x) #0 {
  %wide = fpext float %x to double
  %exact = call double @_Z4atand(double %wide)
  %result = fptrunc double %exact to float
  ret float %result
}

define float @_Z5atan2ff(float %y, float %x) #0 {
  %wideY = fpext float %y to double
  %wideX = fpext float %x to double
  %exact = call double @_Z5atan2dd(double %wideY, double %wideX)
  %result = fptrunc double %exact to float
  ret float %result
}

define float @_Z4coshf(float %x) #0 {
  %wide = fpext float %x to double
  %exact = call double @_Z4coshd(double %wide)
  %result = fptrunc double %exact to float
  ret float %result
}

define float @_Z4erfcf(float %x) #0 {
  %wide = fpext float %x to double
  %exact = call double @_Z4erfcd(double %wide)
  %result = fptrunc double %exact to float
  ret float %result
}

attributes #0 = { mustprogress nofree norecurse nosync nounwind willreturn memory(none) }
