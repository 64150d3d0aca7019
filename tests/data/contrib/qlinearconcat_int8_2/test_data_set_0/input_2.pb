Bin8J
×|dj§e›VP