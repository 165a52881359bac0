// A program that does nothing: who builds it builds all that it depends on.
