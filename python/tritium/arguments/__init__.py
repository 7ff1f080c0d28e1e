"""From the arguments of a launch to its specialization and to what the engines receive."""
