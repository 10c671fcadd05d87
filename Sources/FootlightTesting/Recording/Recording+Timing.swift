extension Recording {
    /// The pictures from one key frame up to the next.
    public struct PictureGroup: Sendable, Equatable {
        /// How many pictures.
        public var frames: Int
        /// From key frame to key frame.
        public var seconds: Double
    }

    /// Pictures a second over the whole recording, from presentation times; 0 below two pictures.
    public var frameRate: Double {
        let span = duration(.video)
        return span > 0 ? Double(packets(.video).count - 1) / span : 0
    }

    /// The groups of pictures that begin and end in the recording.
    public var pictureGroups: [PictureGroup] {
        let video = packets(.video)
        let keys = video.indices.filter { video[$0].isKey }
        return zip(keys, keys.dropFirst()).map { first, second in
            PictureGroup(
                frames: second - first,
                seconds: video[second].presentationTime - video[first].presentationTime
            )
        }
    }

    /// The longest step in seconds from one packet's decode time to the next one's, in the order of the file.
    public func largestGap(_ kind: RecordedPacket.Kind) -> Double {
        let times = packets(kind).map(\.decodeTime)
        return zip(times, times.dropFirst()).map { $1 - $0 }.max() ?? 0
    }

    /// The steps in seconds from one picture to the next that are no whole number of pictures, to a millisecond.
    ///
    /// A program has none, and on a machine that is fast enough each step is one picture; where it is not, some are left
    /// out, and the others keep their times.
    public func unevenSteps(frameRate: Double = 30) -> [Double] {
        let times = packets(.video).map(\.decodeTime)
        return zip(times, times.dropFirst()).map { $1 - $0 }.filter { step in
            let pictures = (step * frameRate).rounded()
            return pictures < 1 || abs(step - pictures / frameRate) > 0.0015
        }
    }

    /// How many packets have a decode time before that of the packet ahead of them in the same stream.
    public var backwardSteps: Int {
        [RecordedPacket.Kind.video, .audio].reduce(0) { sum, kind in
            let times = packets(kind).map(\.decodeTime)
            return sum + zip(times, times.dropFirst()).count { $1 < $0 }
        }
    }
}
