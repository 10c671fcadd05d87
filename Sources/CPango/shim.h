// Text by pango, drawn by cairo; what Swift needs of them and of glib, under which pango's objects live.
#pragma once

#include <cairo.h>
#include <pango/pango.h>
#include <pango/pangocairo.h>
