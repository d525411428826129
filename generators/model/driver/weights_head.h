#pragma once
/* NAME.weights is this head and the weights. The head has what tells a file that is not the one that was written with
   the library. The model compiler (C++) writes it, the driver (C) reads it. */

#include <stdint.h>

#define WEIGHTS_WORD "SALTERNW"
enum { weights_version = 1 };

struct weights_head {
  char word[8];
  uint32_t version, head_bytes;
  uint64_t bytes; /* of the weights */
  char hash[32];  /* and what tells them from others */
  uint64_t unused;
};
