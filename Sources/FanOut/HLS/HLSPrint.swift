import NIOCore

/// A media playlist as it stands, written down once for all who ask for it before it changes.
struct HLSPrint {
    /// One way to write it down.
    struct Form: Hashable {
        /// Without the segments that the player knows.
        var isDelta = false
        /// As a gzip file.
        var isCompressed = false
    }

    private var forms: [Form: ByteBuffer] = [:]

    /// The playlist in that form, or plain when it cannot be compressed; `render` writes it down if nobody has asked
    /// for it yet.
    mutating func text(_ form: Form, render: (_ isDelta: Bool) -> ByteBuffer) -> (text: ByteBuffer, form: Form) {
        if let text = forms[form] { return (text, form) }
        let plainForm = Form(isDelta: form.isDelta)
        let plain = forms[plainForm] ?? render(form.isDelta)
        forms[plainForm] = plain
        guard form.isCompressed, let compressed = Gzip.compress(plain) else { return (plain, plainForm) }
        forms[form] = compressed
        return (compressed, form)
    }

    /// It has changed.
    mutating func forget() {
        forms.removeAll(keepingCapacity: true)
    }
}
