Bin8J
[oYUæþu&i