import CPango

/// What is to be drawn, in painting order; a value that says nothing about how.
///
/// `render()` turns it into an overlay. It takes milliseconds, and the first one of a thread tens of them while fonts
/// are looked up: do it on a thread that nobody waits for.
public struct Drawing: Sendable {
    /// One thing on a drawing.
    public enum Mark: Sendable {
        /// A filled rectangle with round corners.
        case box(DrawingBox, cornerRadius: Double, RGBAColour)
        /// The largest filled circle in the middle of a box.
        case disc(DrawingBox, RGBAColour)
        /// Text, cut or wrapped to the box's width.
        case text(String, TextStyle, DrawingBox)
        /// A symbol in the middle of a box.
        case icon(DrawingIcon, DrawingBox, RGBAColour)
        /// An image at its own size, its upper left corner at a pixel, its corners rounded.
        case image(RasterImage, x: Int, y: Int, cornerRadius: Double, opacity: Double)
    }

    /// Pixels across, even.
    public let width: Int
    /// Pixels down, even.
    public let height: Int
    /// What is drawn, the first below all others.
    public var marks: [Mark]

    /// A drawing; nothing is seen where nothing is drawn.
    ///
    /// - Parameters:
    ///   - width: Pixels; rounded up to an even number.
    ///   - height: Pixels; rounded up to an even number.
    public init(width: Int, height: Int, marks: [Mark] = []) {
        // Limited first, so that no sum of a large number runs over.
        self.width = (min(max(width, 0), OverlayImage.longestSide) + 1) & ~1
        self.height = (min(max(height, 0), OverlayImage.longestSide) + 1) & ~1
        self.marks = marks
    }

    /// The whole drawing.
    public var bounds: DrawingBox { DrawingBox(x: 0, y: 0, width: width, height: height) }

    /// Draws everything.
    ///
    /// May be called on any thread, by several at a time: fonts are kept per thread.
    ///
    /// - Throws: `.badConfiguration` for an empty drawing, `.tooLarge` beyond the limits of `OverlayImage`.
    public func render() throws(CodecError) -> OverlayImage {
        let overlay = try OverlayImage(width: width, height: height)
        // A surface of cairo's is at most 32767 pixels a side, and one as long as a ticker would be needless memory.
        let step = DrawingSurface.longestSide
        for y in stride(from: 0, to: height, by: step) {
            for x in stride(from: 0, to: width, by: step) {
                let part = PixelRectangle(x: x, y: y, width: min(step, width - x), height: min(step, height - y))
                let surface = try DrawingSurface(showing: part)
                for mark in marks { surface.draw(mark) }
                surface.copy(to: overlay, at: part)
            }
        }
        overlay.findRuns()
        return overlay
    }
}

/// A place in a drawing, in pixels from its upper left corner; need be neither even nor whole.
public struct DrawingBox: Sendable, Hashable {
    /// Left edge.
    public var x: Double
    /// Upper edge.
    public var y: Double
    /// Pixels across.
    public var width: Double
    /// Pixels down.
    public var height: Double

    /// Makes a box.
    public init(x: Double, y: Double, width: Double, height: Double) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
    }

    /// A box of whole pixels.
    public init(x: Int, y: Int, width: Int, height: Int) {
        self.init(x: Double(x), y: Double(y), width: Double(width), height: Double(height))
    }

    /// The box that is smaller by `distance` on each side.
    public func inset(by distance: Double) -> DrawingBox {
        DrawingBox(
            x: x + distance,
            y: y + distance,
            width: max(width - 2 * distance, 0),
            height: max(height - 2 * distance, 0)
        )
    }
}

/// A symbol that is drawn as a path, at any size.
public enum DrawingIcon: Sendable, Hashable {
    /// A microphone.
    case microphone
    /// A microphone crossed out.
    case mutedMicrophone
}

extension DrawingIcon {
    /// Draws the symbol into the largest square in the middle of `box`.
    func draw(in box: DrawingBox, colour: RGBAColour, on cairo: OpaquePointer) {
        let side = min(box.width, box.height)
        guard side > 0 else { return }
        cairo_save(cairo)
        defer { cairo_restore(cairo) }
        // What the slash cuts out of the microphone must not be cut out of what lies below.
        cairo_push_group(cairo)
        cairo_translate(cairo, box.x + (box.width - side) / 2, box.y + (box.height - side) / 2)
        // The paths are written for a square of 24.
        cairo_scale(cairo, side / 24, side / 24)
        cairo_set_line_cap(cairo, CAIRO_LINE_CAP_ROUND)
        cairo_set_source_rgba(cairo, colour.with(opacity: 1))
        drawMicrophone(on: cairo)
        if self == .mutedMicrophone { drawSlash(on: cairo) }
        cairo_pop_group_to_source(cairo)
        cairo_paint_with_alpha(cairo, min(max(colour.opacity, 0), 1))
    }

    private func drawMicrophone(on cairo: OpaquePointer) {
        // The capsule.
        cairo_new_sub_path(cairo)
        cairo_arc(cairo, 12, 5.5, 3.5, .pi, 0)
        cairo_arc(cairo, 12, 11.5, 3.5, 0, .pi)
        cairo_close_path(cairo)
        cairo_fill(cairo)
        // The cradle, the stem and the foot.
        cairo_set_line_width(cairo, 2)
        cairo_new_path(cairo)
        cairo_arc_negative(cairo, 12, 11.5, 6.5, .pi, 0)
        cairo_stroke(cairo)
        cairo_move_to(cairo, 12, 18)
        cairo_line_to(cairo, 12, 22)
        cairo_move_to(cairo, 8.5, 22)
        cairo_line_to(cairo, 15.5, 22)
        cairo_stroke(cairo)
    }

    private func drawSlash(on cairo: OpaquePointer) {
        // A gap along the slash first, so that it is seen across the filled capsule.
        cairo_set_operator(cairo, CAIRO_OPERATOR_DEST_OUT)
        cairo_move_to(cairo, 4.2, 3.2)
        cairo_line_to(cairo, 20.4, 19.4)
        cairo_set_line_width(cairo, 5.5)
        cairo_stroke(cairo)
        cairo_set_operator(cairo, CAIRO_OPERATOR_OVER)
        cairo_move_to(cairo, 3.8, 3.2)
        cairo_line_to(cairo, 20.4, 19.8)
        cairo_set_line_width(cairo, 2)
        cairo_stroke(cairo)
    }
}

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

    /// Brings what was drawn to the program's colours, at the place of `part` in `overlay`.
    func copy(to overlay: OverlayImage, at part: PixelRectangle) {
        cairo_surface_flush(surface)
        guard let pixels = cairo_image_surface_get_data(surface) else { return }
        overlay.fill(part, from: pixels, stride: Int(cairo_image_surface_get_stride(surface)))
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

    private func draw(_ image: RasterImage, x: Int, y: Int, cornerRadius: Double, opacity: Double) {
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
