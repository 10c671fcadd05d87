import Codecs

extension YUVColour {
    static let red = YUVColour(red: 200, green: 30, blue: 30)
    static let green = YUVColour(red: 30, green: 180, blue: 40)
    static let blue = YUVColour(red: 30, green: 40, blue: 210)
    static let white = YUVColour(red: 255, green: 255, blue: 255)
}
