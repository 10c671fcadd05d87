import CPango

/// Owns the memory that a part of a drawing is painted into: red, green, blue and alpha, premultiplied.
struct DrawingSurface: ~Copyable {
    /// Pixels; a surface of this size is 16 MiB.
    static let longestSide = 2048

    private let surface: OpaquePointer
    private let cairo: OpaquePointer

    /// A surface on which the marks of a drawing appear where `part` of it is.
    init(showing part: PixelRectangle) throws(CodecError) {
        let surface = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, Int32(part.width), Int32(part.height))
        guard let surface, cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS, let cairo = cairo_create(surface)
        else {
            cairo_surface_destroy(surface)
            throw CodecError(.outOfMemory, "a drawing of \(part.width)x\(part.height)")
        }
        cairo_translate(cairo, -Double(part.x), -Double(part.y))
        self.surface = surface
        self.cairo = cairo
    }

    deinit {
        cairo_destroy(cairo)
        cairo_surface_destroy(surface)
    }

    func draw(_ mark: Drawing.Mark) {
        cairo_save(cairo)
        defer { cairo_restore(cairo) }
        switch mark {
        case .box(let box, let radius, let colour):
            addBox(box, radius: radius)
            cairo_set_source_rgba(cairo, colour)
            cairo_fill(cairo)
        case .gradient(let box, let upper, let lower):
            fill(box, from: upper, to: lower)
        case .disc(let box, let colour):
            let radius = min(box.width, box.height) / 2
            cairo_arc(cairo, box.x + box.width / 2, box.y + box.height / 2, radius, 0, 2 * .pi)
            cairo_set_source_rgba(cairo, colour)
            cairo_fill(cairo)
        case .text(let text, let style, let box):
            guard let layout = TextLayout(text, style: style, width: box.width) else { return }
            layout.draw(in: box, on: cairo)
        case .icon(let icon, let box, let colour):
            icon.draw(in: box, colour: colour, on: cairo)
        case .image(let image, let x, let y, let radius, let opacity):
            draw(image, x: x, y: y, cornerRadius: radius, opacity: opacity)
        }
    }

    /// Brings what was drawn to the program's colours, at the place of `part` in `picture`.
    func copy(to picture: OverlayPicture, at part: PixelRectangle) {
        cairo_surface_flush(surface)
        guard let pixels = cairo_image_surface_get_data(surface) else { return }
        picture.fill(part, from: pixels, stride: Int(cairo_image_surface_get_stride(surface)))
    }

    private func addBox(_ box: DrawingBox, radius: Double) {
        let radius = min(max(radius, 0), min(box.width, box.height) / 2)
        guard radius > 0 else {
            cairo_rectangle(cairo, box.x, box.y, box.width, box.height)
            return
        }
        let (left, top, right, bottom) = (box.x, box.y, box.x + box.width, box.y + box.height)
        cairo_new_sub_path(cairo)
        cairo_arc(cairo, right - radius, top + radius, radius, -.pi / 2, 0)
        cairo_arc(cairo, right - radius, bottom - radius, radius, 0, .pi / 2)
        cairo_arc(cairo, left + radius, bottom - radius, radius, .pi / 2, .pi)
        cairo_arc(cairo, left + radius, top + radius, radius, .pi, 1.5 * .pi)
        cairo_close_path(cairo)
    }

    private func fill(_ box: DrawingBox, from upper: RGBAColour, to lower: RGBAColour) {
        guard let pattern = cairo_pattern_create_linear(0, box.y, 0, box.y + box.height) else { return }
        defer { cairo_pattern_destroy(pattern) }
        for (place, colour) in [(0.0, upper), (1.0, lower)] {
            cairo_pattern_add_color_stop_rgba(
                pattern,
                place,
                Double(colour.red) / 255,
                Double(colour.green) / 255,
                Double(colour.blue) / 255,
                min(max(colour.opacity, 0), 1)
            )
        }
        cairo_rectangle(cairo, box.x, box.y, box.width, box.height)
        cairo_set_source(cairo, pattern)
        cairo_fill(cairo)
    }

    private func draw(_ image: StillPicture, x: Int, y: Int, cornerRadius: Double, opacity: Double) {
        image.withPixels { pixels, stride in
            // Cairo only reads from it.
            let source = cairo_image_surface_create_for_data(
                UnsafeMutablePointer(mutating: pixels),
                CAIRO_FORMAT_ARGB32,
                Int32(image.width),
                Int32(image.height),
                Int32(stride)
            )
            defer { cairo_surface_destroy(source) }
            guard let source, cairo_surface_status(source) == CAIRO_STATUS_SUCCESS else { return }
            addBox(DrawingBox(x: x, y: y, width: image.width, height: image.height), radius: cornerRadius)
            cairo_clip(cairo)
            cairo_set_source_surface(cairo, source, Double(x), Double(y))
            cairo_paint_with_alpha(cairo, min(max(opacity, 0), 1))
            // The surface's memory is the image's: nothing may refer to it any longer.
            cairo_set_source_rgba(cairo, RGBAColour.clear)
            cairo_surface_finish(source)
        }
    }
}
