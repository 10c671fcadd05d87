import FootlightModel
import Stage

extension WireEnum {
    /// Returns the value of a request's field.
    ///
    /// - Throws: 3073 with the rule for an unknown value.
    func known(in field: String, orRefuse rule: String) throws(StageError) -> Value {
        guard let value else { throw .invalidParameter(field, rule) }
        return value
    }
}

extension WireEnum where Value: CaseIterable {
    /// Returns the value of a request's field.
    ///
    /// - Throws: 3073 with all values for an unknown one.
    func known(in field: String) throws(StageError) -> Value {
        try known(in: field, orRefuse: "must be one of \(Value.allCases.map(\.rawValue).joined(separator: ", "))")
    }
}
