import Codecs

/// The largest difference of red, green and blue between `colour` and the given one.
func distance(_ colour: YUVColour, red: UInt8, green: UInt8, blue: UInt8) -> Int {
    let rgb = colour.rgb
    return max(
        abs(Int(rgb.red) - Int(red)),
        abs(Int(rgb.green) - Int(green)),
        abs(Int(rgb.blue) - Int(blue))
    )
}
