// Run by deploy/fuzz, which sets the target in the environment.
runFuzzer()
