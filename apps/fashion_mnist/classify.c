/* Classifies 28 x 28 pictures of clothes with the compiled net. All that it links: the net's static library and libpng.

     classify [--tsv] PICTURE.png...
*/
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fashion.h"

enum { size = 28, classes = 10 };

static const char *const names[classes] = {"T-shirt", "trouser", "pullover", "dress", "coat",
                                           "sandal",  "shirt",   "sneaker",  "bag",   "ankle boot"};

/* Zero, or a complaint on stderr. */
static int read_picture(const char *path, float *pixels) {
  png_image image;
  png_byte bytes[size * size];
  memset(&image, 0, sizeof image);
  image.version = PNG_IMAGE_VERSION;
  if (!png_image_begin_read_from_file(&image, path)) {
    fprintf(stderr, "classify: %s: %s\n", path, image.message);
    return 1;
  }
  if (image.width != size || image.height != size) {
    fprintf(stderr, "classify: %s: %u x %u pixels; expected %d x %d\n", path, image.width, image.height, size, size);
    png_image_free(&image);
    return 1;
  }
  image.format = PNG_FORMAT_GRAY;
  if (!png_image_finish_read(&image, NULL, bytes, 0, NULL)) {
    fprintf(stderr, "classify: %s: %s\n", path, image.message);
    png_image_free(&image);
    return 1;
  }
  for (int i = 0; i < size * size; ++i) pixels[i] = (float)bytes[i] / 255.0f;
  return 0;
}

static void print(const char *path, const float *probabilities, int tsv) {
  int best = 0, second = -1;
  for (int c = 1; c < classes; ++c)
    if (probabilities[c] > probabilities[best]) best = c;
  for (int c = 0; c < classes; ++c)
    if (c != best && (second < 0 || probabilities[c] > probabilities[second])) second = c;
  if (tsv)
    printf("%s\t%s\t%.1f %%\n", path, names[best], 100.0 * (double)probabilities[best]);
  else
    printf("%s: %s %.1f %% (or %s %.1f %%)\n", path, names[best], 100.0 * (double)probabilities[best], names[second],
           100.0 * (double)probabilities[second]);
}

int main(int argc, char **argv) {
  const int tsv = argc > 1 && strcmp(argv[1], "--tsv") == 0, first = 1 + tsv;
  int failures = 0;
  fashion_model *model;
  if (argc <= first || argv[first][0] == '-') {
    fprintf(stderr, "usage: classify [--tsv] PICTURE.png...\n");
    return 2;
  }
  if (fashion_abi_version() != fashion_ABI_VERSION || !(model = fashion_create(NULL))) {
    fprintf(stderr, "classify: the model cannot be made\n");
    return 1;
  }
  for (int i = first; i < argc; ++i) {
    float pixels[size * size], probabilities[classes];
    const void *const inputs[] = {pixels};
    void *const outputs[] = {probabilities};
    if (read_picture(argv[i], pixels)) {
      ++failures;
    } else if (fashion_run(model, inputs, outputs)) {
      fprintf(stderr, "classify: %s: %s\n", argv[i], fashion_error(model));
      ++failures;
    } else {
      print(argv[i], probabilities, tsv);
    }
  }
  fashion_destroy(model);
  return failures ? 1 : 0;
}
