// libyuv has no pkg-config file on Debian; its C headers import cleanly.
#pragma once

#include <libyuv/convert.h>
#include <libyuv/planar_functions.h>
#include <libyuv/scale.h>
#include <libyuv/scale_argb.h>

#include "area.h"
#include "fine.h"
