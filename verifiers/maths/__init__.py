"""Reading and comparing mathematical answers: text to tree, tree to value, values and sets and relations compared."""
