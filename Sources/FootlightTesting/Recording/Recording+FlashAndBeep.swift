extension Recording {
    /// How much later each beep is heard than its flash is seen, in milliseconds; negative when it is heard first.
    ///
    /// A flash begins with the first picture brighter than halfway between the darkest and the brightest; a beep begins
    /// where the tone passes half of its largest strength. A flash without a beep within half a second is left out, and
    /// so is one in the first tenth of a second, whose beginning is not to be seen.
    ///
    /// - Parameters:
    ///   - frequency: The beep's, in Hz.
    ///   - area: The part of the picture that flashes, as fractions of its width and height; all of it when nil.
    public func beepDelays(
        frequency: Double = 1000,
        area: (x: Double, y: Double, width: Double, height: Double)? = nil
    ) async throws -> [Double] {
        let (x, y, width, height) = area ?? (0, 0, 1, 1)
        let lights = try await allPictures().map { picture in
            let columns = Double(picture.width)
            let rows = Double(picture.height)
            let colour = picture.averageColour(
                x: Int(x * columns),
                y: Int(y * rows),
                width: max(Int(width * columns), 1),
                height: max(Int(height * rows), 1)
            )
            return (time: picture.time, value: colour.luma)
        }
        let flashes = Recording.rises(lights)
        let beeps = Recording.rises(try await sound().envelope(frequency: frequency))
        return flashes.filter { $0 > 0.1 }.compactMap { flash in
            beeps.min { abs($0 - flash) < abs($1 - flash) }
                .map { ($0 - flash) * 1000 }
                .flatMap { abs($0) < 500 ? $0 : nil }
        }
    }

    /// When a curve passes upwards through the middle between its smallest and its largest value.
    private static func rises(_ curve: [(time: Double, value: Double)]) -> [Double] {
        guard let low = curve.map(\.value).min(), let high = curve.map(\.value).max(), high > 0 else { return [] }
        let middle = (low + high) / 2
        return zip(curve, curve.dropFirst()).compactMap { $0.value <= middle && $1.value > middle ? $1.time : nil }
    }
}

extension SoundTrack {
    /// The amplitude of one frequency over time, each millisecond over the 10 ms around it.
    func envelope(frequency: Double) -> [(time: Double, value: Double)] {
        let rate = SoundTrack.sampleRate
        let window = rate / 100
        return stride(from: 0, to: samples.count - window, by: rate / 1000).map { start in
            let middle = Double(start + window / 2) / Double(rate)
            return (startTime + middle, tone(frequency, at: start, count: window))
        }
    }
}
