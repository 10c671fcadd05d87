import CPango

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
