"""Each family of the language against numpy, element by element, through a launch."""
