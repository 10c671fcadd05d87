import GatewayModel
import Stage

extension LayoutSettings {
    /// Takes over what a request names; the rest stays.
    ///
    /// Ranges are checked by `validate()`.
    ///
    /// - Parameters:
    ///   - path: What stands before a field's name when it is refused.
    ///   - isOperator: Whether an operator asks, whose addresses may be private where the gateway's settings allow it.
    /// - Throws: 3073 for a word that is none of a field's, and for a colour or asset that is none.
    mutating func take(_ body: LayoutBody, path: String = "", isOperator: Bool = false) throws(StageError) {
        kind = try Self.word(body.type, path + "type", or: kind, among: Kind.allCases)
        priority = try Self.word(body.priority, path + "priority", or: priority, among: Priority.allCases)
        theme = try Self.word(body.theme, path + "theme", or: theme, among: Theme.allCases)
        scaleMode = try Self.word(body.scaleMode, path + "scale_mode", or: scaleMode, among: [.fill, .fit])
        if let name = body.orientation {
            orientation = try Self.word(name, path + "orientation", or: .landscape, among: Orientation.allCases)
        }
        gridSize = body.gridSize ?? gridSize
        rotation = body.rotateEvery ?? rotation
        autoSwitchOnScreenShare = body.autoSwitchOnScreenShare ?? autoSwitchOnScreenShare
        overlays.name = body.overlays?.name ?? overlays.name
        overlays.mic = body.overlays?.mic ?? overlays.mic
        try takeDecoration(body, path: path)
        var named = LayoutSettings()
        if isOperator { try named.takeDecoration(body, path: path) }
        operatorAddresses = operatorAddresses.union(named.addresses).intersection(addresses)
    }

    private static func word<Word: RawRepresentable<String>>(
        _ name: String?,
        _ field: String,
        or present: Word,
        among words: [Word]
    ) throws(StageError) -> Word {
        guard let name else { return present }
        guard let word = Word(rawValue: name) else {
            throw .invalidParameter(field, "must be one of \(words.map(\.rawValue).joined(separator: ", "))")
        }
        return word
    }
}
