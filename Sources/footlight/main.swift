print("footlight")
