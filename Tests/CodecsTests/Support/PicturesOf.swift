import Codecs
import Media

/// Every picture that decoding all of `packets` gives.
func pictures(of packets: [MediaPacket], configuration: MediaPacket) throws -> [Picture] {
    var decoder = try VideoDecoder(configuration: configuration)
    var pictures: [Picture] = []
    for packet in packets {
        try decoder.decode(packet) { pictures.append($0) }
    }
    decoder.flush { pictures.append($0) }
    return pictures
}

/// `picture` at its own size (rounded down to even), in the program's colours.
func canvas(showing picture: Picture) throws -> Canvas {
    let canvas = try Canvas(width: picture.width & ~1, height: picture.height & ~1)
    try canvas.draw(picture, in: canvas.bounds)
    return canvas
}
