import GatewayModel
import Stage

extension ControlRoutes {
    /// Refuses outputs of renditions that the program is not offered as.
    ///
    /// - Throws: 3073 naming the field.
    func requireRenditions(_ outputs: [OutputBody], of program: ProgramConfiguration) throws(StageError) {
        let names = program.ladder?.names ?? []
        for rendition in outputs.compactMap(\.rendition) where !names.contains(rendition) {
            let rule = names.isEmpty ? "must be left out" : "must be one of \(names.joined(separator: ", "))"
            throw .invalidParameter("outputs.rendition", rule)
        }
    }
}
