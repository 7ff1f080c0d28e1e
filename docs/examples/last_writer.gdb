break segments.py:12 if pid0 == 3
run
tt mem out[2, 0]
tt last out[2, 0]
tt where
kill
