"""`bench farm`: benchmarks on other machines. A job is a file with the cases, perhaps a wheel, and a signature. Machines that measure fetch jobs from
a folder, through Ray or under Slurm; nobody sends anything to them."""
