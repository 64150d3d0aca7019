
Bin0JO4jÙğPXÿOğ÷Mr×tt‡»ò®ù']8úc