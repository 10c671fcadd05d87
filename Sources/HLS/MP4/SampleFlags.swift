/// What a sample depends on, and what depends on it (ISO/IEC 14496-12 8.8.3.1).
enum SampleFlags {
    private static let dependsOnNothing: UInt32 = 2 << 24
    private static let dependsOnOthers: UInt32 = 1 << 24
    private static let nothingDependsOnIt: UInt32 = 2 << 22
    private static let isNotSync: UInt32 = 1 << 16

    /// Every AAC frame can be begun with.
    static let sound = dependsOnNothing

    static func picture(isKey: Bool, isDisposable: Bool) -> UInt32 {
        if isKey { return dependsOnNothing }
        return dependsOnOthers | isNotSync | (isDisposable ? nothingDependsOnIt : 0)
    }
}
