// Without a file of assembly Go refuses functions without a body, which main.go links.
