import Foundation

/// Hears the beginnings of beeps of whole kilohertz in a program, each kilohertz for itself, to half a millisecond.
///
/// A millisecond holds a whole number of periods of all of them, so each is deaf to the others; five milliseconds are
/// looked at at a time.
struct BeepWatch: Sendable {
    private static let length = 48
    private static let window = 5
    /// Milliseconds of silence after which a beep is a new one.
    private static let pause = 200

    private struct Ear: Sendable {
        let cosine: [Float]
        let sine: [Float]
        var parts: [(cosine: Float, sine: Float)] = Array(repeating: (0, 0), count: BeepWatch.window)
        var quiet = BeepWatch.pause

        init(_ frequency: Int) {
            let angles = (0..<BeepWatch.length).map { 2 * Double.pi * Double(frequency * $0) / 48 }
            cosine = angles.map { Float(cos($0)) }
            sine = angles.map { Float(sin($0)) }
        }
    }

    private let threshold: Float
    private var ears: [Ear]
    private var rest: [Float] = []
    /// Milliseconds that were heard, and where they began.
    private var heard: Int64 = 0
    private var begin: Double?

    /// - Parameter amplitude: Of the beeps, of full scale; half of it begins one.
    init(frequencies: [Int], amplitude: Float) {
        ears = frequencies.map(Ear.init)
        threshold = amplitude / 2
    }

    /// Takes in the samples that follow those before.
    ///
    /// - Parameters:
    ///   - time: When the first of them is heard, milliseconds.
    ///   - found: Told the number of the frequency and when its beep began.
    mutating func take(_ samples: UnsafeBufferPointer<Float>, at time: Double, found: (Int, Double) -> Void) {
        if begin == nil { begin = time }
        rest.append(contentsOf: samples)
        var from = 0
        while rest.count - from >= Self.length {
            listen(from, found)
            from += Self.length
        }
        rest.removeFirst(from)
    }

    private mutating func listen(_ from: Int, _ found: (Int, Double) -> Void) {
        let place = Int(heard % Int64(Self.window))
        heard += 1
        for number in ears.indices {
            var (cosine, sine) = (Float(0), Float(0))
            for index in 0..<Self.length {
                cosine += rest[from + index] * ears[number].cosine[index]
                sine += rest[from + index] * ears[number].sine[index]
            }
            ears[number].parts[place] = (cosine, sine)
            (cosine, sine) = ears[number].parts.reduce((0, 0)) { ($0.0 + $1.cosine, $0.1 + $1.sine) }
            let amplitude = 2 * (cosine * cosine + sine * sine).squareRoot() / Float(Self.length * Self.window)
            if amplitude < threshold / 2 {
                ears[number].quiet += 1
            } else if amplitude >= threshold {
                // Half of the window was filled, give or take half a millisecond.
                let began = (begin ?? 0) + Double(heard) - Double(Self.window) / 2 - 0.5
                if ears[number].quiet >= Self.pause { found(number, began) }
                ears[number].quiet = 0
            }
        }
    }
}
