// What Swift cannot import from libav* by itself: macros with casts, compound literals and variadic functions.
#pragma once

#include <errno.h>
#include <libavcodec/avcodec.h>
#include <libavcodec/bsf.h>
#include <libavformat/avformat.h>
#include <libavformat/avio.h>
#include <libavutil/avutil.h>
#include <libavutil/channel_layout.h>
#include <libavutil/imgutils.h>
#include <libavutil/mathematics.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
#include <libswresample/swresample.h>
#include <libswscale/swscale.h>

// Function-like and FFERRTAG macros are not imported.
static const int c_averror_eof = AVERROR_EOF;
static const int c_averror_eagain = AVERROR(EAGAIN);
static const int c_averror_invaliddata = AVERROR_INVALIDDATA;
static const int c_averror_option_not_found = AVERROR_OPTION_NOT_FOUND;
static const int c_averror_encoder_not_found = AVERROR_ENCODER_NOT_FOUND;
static const int c_averror_decoder_not_found = AVERROR_DECODER_NOT_FOUND;
static const int c_averror_enomem = AVERROR(ENOMEM);
static const int c_averror_einval = AVERROR(EINVAL);

// A cast in the macro hides it from the importer.
static const int64_t c_av_nopts_value = AV_NOPTS_VALUE;
