import GatewayModel
import Stage

extension OutputTarget {
    /// The outputs of a request with their names: given ones are checked, missing ones made up.
    ///
    /// - Parameters:
    ///   - taken: The names of outputs that are there already.
    ///   - program: What they push, as it is meant to be.
    ///   - claims: Who names them: outputs of anybody but an operator go to public addresses only.
    /// - Throws: 4015.
    static func targets(
        of bodies: [OutputBody],
        beside taken: [String],
        program: ProgramConfiguration,
        by claims: AccessClaims
    ) throws(StageError) -> [OutputTarget] {
        guard !bodies.isEmpty else { throw .outputInvalid("outputs must name at least one output") }
        var names = Set(taken)
        for name in bodies.compactMap(\.name) {
            guard NameRule.check(name) == nil else {
                throw .outputInvalid("the name of an output must have 1 to 64 characters of A-Z, a-z, 0-9, _ and -")
            }
            guard names.insert(name).inserted else { throw .outputInvalid("there is an output named \(name) already") }
        }
        var number = 0
        return bodies.map { body in
            var name = body.name
            while name == nil {
                number += 1
                let candidate = "output-\(number)"
                if names.insert(candidate).inserted { name = candidate }
            }
            var target = OutputTarget(name: name ?? "", url: body.url, streamKey: body.streamKey)
            target.mustBePublic = claims.role != .operator
            target.rendition = body.rendition
            target.spareURL = body.spareURL
            target.spareStreamKey = body.spareStreamKey
            target.figures = StreamFigures(program, rendition: body.rendition)
            return target
        }
    }
}
