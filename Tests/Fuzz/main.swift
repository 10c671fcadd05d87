// Fed by deploy/fuzz, which says in the environment what is to be fuzzed.
runFuzzer()
