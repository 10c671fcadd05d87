import CPango

/// Owns one text laid out by pango; belongs to the thread that made it.
struct TextLayout: ~Copyable {
    private let layout: OpaquePointer
    private let style: TextStyle
    private let width: Double?

    /// Pango's own coordinates hold no more.
    private static let widest = 1_000_000.0

    /// - Parameter width: Where lines are wrapped or cut, in pixels; infinite for never.
    /// - Returns: nil for text without a visible character.
    init?(_ text: String, style: TextStyle, width: Double) {
        let text = TextSanitizer.cleaned(text, keepsLines: style.maximumLines > 1)
        guard !text.isEmpty, width > 0, let context = TextFonts.context() else { return nil }
        defer { g_object_unref(UnsafeMutableRawPointer(context)) }
        Self.setOptions(of: context)
        guard let layout = pango_layout_new(context) else { return nil }
        if let font = TextFonts.description(of: style) {
            pango_layout_set_font_description(layout, font)
            pango_font_description_free(font)
        }
        pango_layout_set_text(layout, text, -1)
        let limit = width < Self.widest ? width : nil
        if let limit {
            pango_layout_set_width(layout, Int32(max(limit, 1) * Double(PANGO_SCALE)))
            pango_layout_set_ellipsize(layout, PANGO_ELLIPSIZE_END)
        }
        if style.maximumLines > 1 {
            pango_layout_set_wrap(layout, PANGO_WRAP_WORD_CHAR)
            // Lines are limited by a negative height.
            pango_layout_set_height(layout, -Int32(clamping: style.maximumLines))
        } else {
            pango_layout_set_single_paragraph_mode(layout, 1)
        }
        let alignment =
            switch style.alignment {
            case .leading: PANGO_ALIGN_LEFT
            case .centre: PANGO_ALIGN_CENTER
            case .trailing: PANGO_ALIGN_RIGHT
            }
        // Pango takes left and right the other way round for text that runs from right to left.
        pango_layout_set_alignment(layout, alignment)
        self.layout = layout
        self.style = style
        self.width = limit
    }

    deinit {
        g_object_unref(UnsafeMutableRawPointer(layout))
    }

    var extent: TextExtent {
        let logical = logicalSize
        return TextExtent(
            width: Int(logical.width.rounded(.up)),
            height: Int(logical.height.rounded(.up)),
            lines: Int(pango_layout_get_line_count(layout)),
            isShortened: pango_layout_is_ellipsized(layout) != 0,
            missing: Int(pango_layout_get_unknown_glyphs_count(layout))
        )
    }

    /// Whether the first line is read from right to left.
    var isRightToLeft: Bool {
        guard let line = pango_layout_get_line_readonly(layout, 0) else { return false }
        return pango_layout_line_get_resolved_direction(line) == PANGO_DIRECTION_RTL
    }

    /// Draws the text into `box` with the current transformation of `cairo`.
    func draw(in box: DrawingBox, on cairo: OpaquePointer) {
        let x = width == nil ? box.x + leftEdge(in: box) : box.x
        cairo_set_source_rgba(cairo, style.colour)
        cairo_move_to(cairo, x, top(in: box))
        pango_cairo_show_layout(cairo, layout)
    }

    private var logicalSize: (width: Double, height: Double) {
        var logical = PangoRectangle()
        pango_layout_get_extents(layout, nil, &logical)
        return (Double(logical.width) / Double(PANGO_SCALE), Double(logical.height) / Double(PANGO_SCALE))
    }

    /// Text that is never wrapped is placed here, since pango knows no width to align it in.
    private func leftEdge(in box: DrawingBox) -> Double {
        let free = box.width - logicalSize.width
        guard free.isFinite else { return 0 }
        return switch style.alignment {
        case .leading: 0
        case .centre: free / 2
        case .trailing: free
        }
    }

    private func top(in box: DrawingBox) -> Double {
        let height = logicalSize.height
        switch style.placement {
        case .top:
            return box.y
        case .bottom:
            return box.y + box.height - height
        case .middle where pango_layout_get_line_count(layout) == 1:
            // By the line the letters stand on, not by the line's height, which differs from script to script: names
            // side by side would stand at different heights. Capitals are about 0.71 of the letters' square high.
            let baseline = Double(pango_layout_get_baseline(layout)) / Double(PANGO_SCALE)
            return (box.y + box.height / 2 + 0.357 * style.pixels).rounded() - baseline
        case .middle:
            return box.y + (box.height - height) / 2
        }
    }

    private static func setOptions(of context: OpaquePointer) {
        let options = cairo_font_options_create()
        // The frame is scaled and compressed on its way: letters of whole grey levels, and spaced as they were
        // designed.
        cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY)
        cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE)
        cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF)
        pango_cairo_context_set_font_options(context, options)
        cairo_font_options_destroy(options)
        pango_cairo_context_set_resolution(context, 72)
        pango_context_set_round_glyph_positions(context, 0)
    }
}

/// Draws with `colour` from here on.
func cairo_set_source_rgba(_ cairo: OpaquePointer, _ colour: RGBAColour) {
    cairo_set_source_rgba(
        cairo,
        Double(colour.red) / 255,
        Double(colour.green) / 255,
        Double(colour.blue) / 255,
        min(max(colour.opacity, 0), 1)
    )
}

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
            case .bold: PANGO_WEIGHT_BOLD
            }
        pango_font_description_set_weight(description, weight)
        return description
    }
}

/// Text from outside, made safe and cheap to lay out.
enum TextSanitizer {
    /// Unicode scalars; no less than there are in the longest text that a room may show, of 16000 bytes.
    ///
    /// One character may have many: vowel signs and marks count by themselves.
    static let longest = 16_000

    /// `text` without control characters, its white space in one line as single spaces, cut to `longest`.
    ///
    /// - Parameter keepsLines: Line feeds stay, as breaks within one paragraph: pango limits the lines of each
    ///   paragraph, not those of all.
    static func cleaned(_ text: String, keepsLines: Bool) -> String {
        var result = String.UnicodeScalarView()
        var isAfterSpace = true
        for scalar in text.unicodeScalars.prefix(longest) {
            if keepsLines, scalar == "\n" {
                result.append("\u{2028}")
                isAfterSpace = true
                continue
            }
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator, .spaceSeparator:
                // A tab or a line feed parts words as well as a space does; other control characters are nothing.
                let isSpace = scalar.properties.isWhitespace
                if isSpace, !isAfterSpace {
                    result.append(" ")
                    isAfterSpace = true
                }
            case .surrogate, .unassigned, .privateUse:
                // No font shows them as anything but a box.
                continue
            default:
                result.append(scalar)
                isAfterSpace = false
            }
        }
        while result.last == " " { result.removeLast() }
        return String(result)
    }
}
