import ArgumentParser
import Stage

/// A program's size as it is written on the command line, such as `1280x720`.
struct ProgramSize: ExpressibleByArgument, CustomStringConvertible {
    let width: Int
    let height: Int

    /// What a program has unless another size is asked for.
    static let usual = ProgramSize(width: 1280, height: 720)

    private init(width: Int, height: Int) {
        (self.width, self.height) = (width, height)
    }

    init?(argument: String) {
        let sides = argument.split(separator: "x").compactMap { Int($0) }
        guard sides.count == 2, (160...1920).contains(sides[0]), (90...1920).contains(sides[1]),
            sides.allSatisfy({ $0 % 2 == 0 })
        else { return nil }
        (width, height) = (sides[0], sides[1])
    }

    var description: String { "\(width)x\(height)" }

    /// A program of this size, with the rate that a platform would be sent.
    var program: ProgramConfiguration {
        ProgramConfiguration(width: width, height: height, videoBitrate: width * height > 1_000_000 ? 5000 : 3000)
    }
}
