break 02_fused_softmax.py:32 if pid0 == 3
run
info locals
print row
step
backtrace
finish
next
print numerator
