#pragma once
// The loop and all around it; <saltern/training.h> where Saltern is installed.

#include "runtime/data/cifar.h"
#include "runtime/data/csv.h"
#include "runtime/data/picture_folder.h"
#include "runtime/data/text.h"
#include "runtime/nn/all.h"
#include "runtime/training/early_stopping.h"
#include "runtime/training/estimator.h"
#include "runtime/training/logging.h"
#include "runtime/training/plateau.h"
#include "runtime/training/progress_bar.h"
#include "runtime/training/source_loader.h"
#include "runtime/training/trainer.h"
#include "runtime/training/training_report.h"
#include "runtime/transforms/all.h"
