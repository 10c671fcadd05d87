import CPango

/// The fonts that text is drawn with.
enum TextFonts {
    /// In order of preference; fontconfig adds whatever else on the machine has a character that none of these has, and
    /// what no font has is drawn as a box.
    private static let families = """
        Noto Sans,Noto Sans Arabic,Noto Sans Hebrew,Noto Sans Devanagari,Noto Sans CJK SC,WenQuanYi Micro Hei,\
        DejaVu Sans,sans-serif
        """

    /// The calling thread's fonts, for the caller to release.
    ///
    /// Pango keeps one font map for each thread and frees it with the thread, so that no two threads share its state.
    static func context() -> OpaquePointer? {
        guard let map = pango_cairo_font_map_get_default() else { return nil }
        return pango_font_map_create_context(map)
    }

    /// The description of `style`'s font, for the caller to free.
    static func description(of style: TextStyle) -> OpaquePointer? {
        guard let description = pango_font_description_new() else { return nil }
        pango_font_description_set_family(description, families)
        pango_font_description_set_absolute_size(description, style.pixels * Double(PANGO_SCALE))
        let weight =
            switch style.weight {
            case .regular: PANGO_WEIGHT_NORMAL
            case .medium: PANGO_WEIGHT_MEDIUM
            case .semibold: PANGO_WEIGHT_SEMIBOLD
            case .bold: PANGO_WEIGHT_BOLD
            }
        pango_font_description_set_weight(description, weight)
        return description
    }
}
