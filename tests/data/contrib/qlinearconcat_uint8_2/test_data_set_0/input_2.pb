Bin8J
Y¤|;dF‹WaÜ