"""The commands, one file each; heavy imports happen inside them."""
