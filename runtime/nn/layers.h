#pragma once
// Layers by their names, with PyTorch's arguments:
//
//   using namespace saltern::nn::literals;
//   Sequential net{nn::Linear(784, 64), nn::LeakyReLU(0.1), nn::Dropout("p"_a = 0.2), nn::Linear(64, 10)};

#include "runtime/nn/named.h"

// clang-format off
#define SALTERN_FOR_EACH_LAYER(X) \
  X(Activation) X(AdaptiveAvgPool1d) X(AdaptiveAvgPool2d) X(AdaptiveAvgPool3d) X(AdaptiveLogSoftmaxWithLoss) \
  X(AdaptiveMaxPool1d) X(AdaptiveMaxPool2d) X(AdaptiveMaxPool3d) X(Add) X(AdditiveAttention) X(AlphaDropout) \
  X(Attention) X(AutoContrast) X(Average) X(AvgPool1d) X(AvgPool2d) X(AvgPool3d) X(BCELoss) X(BCEWithLogitsLoss) \
  X(BatchNorm1d) X(BatchNorm2d) X(BatchNorm3d) X(Bidirectional) X(Bilinear) X(BinaryConv2d) X(BinaryCrossentropy) \
  X(BinaryFocalCrossentropy) X(BinaryLinear) X(CELU) X(CTC) X(CTCLoss) X(CategoricalCrossentropy) \
  X(CategoricalFocalCrossentropy) X(CategoricalGeneralizedCrossEntropy) X(CategoricalHinge) X(CategoryEncoding) \
  X(CellOverTime) X(CenterCrop) X(ChannelShuffle) X(Circle) X(CircularPad1d) X(CircularPad2d) X(CircularPad3d) \
  X(Concatenate) X(ConstantPad1d) X(ConstantPad2d) X(ConstantPad3d) X(Conv1d) X(Conv2d) X(Conv2dNormActivation) \
  X(Conv3d) X(Conv3dNormActivation) X(ConvLSTM1d) X(ConvLSTM2d) X(ConvLSTM3d) X(ConvTranspose1d) X(ConvTranspose2d) \
  X(ConvTranspose3d) X(CosineEmbeddingLoss) X(CosineSimilarity) X(CosineSimilarityLoss) X(Cropping1d) X(Cropping2d) \
  X(Cropping3d) X(CrossEntropyLoss) X(CrossMapLRN2d) X(DeformConv2d) X(Dice) X(Discretization) X(Dot) X(DropBlock2d) \
  X(DropBlock3d) X(Dropout) X(Dropout1d) X(Dropout2d) X(Dropout3d) X(ELU) X(EinsumDense) X(Embedding) X(EmbeddingBag) \
  X(FeatureAlphaDropout) X(Flatten) X(Fold) X(FractionalMaxPool2d) X(FractionalMaxPool3d) X(FrozenBatchNorm2d) X(GELU) \
  X(GLU) X(GRU) X(GRUCell) X(GaussianDropout) X(GaussianNLLLoss) X(GaussianNoise) X(GroupNorm) X(GroupQueryAttention) \
  X(Hardshrink) X(Hardsigmoid) X(Hardswish) X(Hardtanh) X(Hinge) X(HingeEmbeddingLoss) X(HuberLoss) X(Identity) \
  X(InstanceNorm1d) X(InstanceNorm2d) X(InstanceNorm3d) X(KLDivLoss) X(KLDivergence) X(L1Loss) X(LPPool1d) X(LPPool2d) \
  X(LPPool3d) X(LSTM) X(LSTMCell) X(LayerNorm) X(LazyBatchNorm1d) X(LazyBatchNorm2d) X(LazyBatchNorm3d) X(LazyConv1d) \
  X(LazyConv2d) X(LazyConv3d) X(LazyConvTranspose1d) X(LazyConvTranspose2d) X(LazyConvTranspose3d) \
  X(LazyInstanceNorm1d) X(LazyInstanceNorm2d) X(LazyInstanceNorm3d) X(LazyLinear) X(LeakyReLU) X(Linear) \
  X(LinearCrossEntropyLoss) X(LocalResponseNorm) X(LocallyConnected1d) X(LocallyConnected2d) X(LogCosh) X(LogSigmoid) \
  X(LogSoftmax) X(MLP) X(MSELoss) X(MarginRankingLoss) X(Masking) X(MaxPool1d) X(MaxPool2d) X(MaxPool3d) \
  X(MaxUnpool1d) X(MaxUnpool2d) X(MaxUnpool3d) X(Maximum) X(MeanAbsolutePercentageError) \
  X(MeanSquaredLogarithmicError) X(MelSpectrogram) X(Minimum) X(Mish) X(MultiLabelMarginLoss) \
  X(MultiLabelSoftMarginLoss) X(MultiMarginLoss) X(MultiheadAttention) X(Multiply) X(NLLLoss) X(NLLLoss2d) \
  X(Normalization) X(PReLU) X(PSRoIAlign) X(PSRoIPool) X(PairwiseDistance) X(Permute) X(PixelShuffle) \
  X(PixelUnshuffle) X(Poisson) X(PoissonNLLLoss) X(RMSNorm) X(RNN) X(RNNCell) X(RReLU) X(RandomBrightness) \
  X(RandomColorDegeneration) X(RandomColorJitter) X(RandomContrast) X(RandomCrop) X(RandomFlip) X(RandomGaussianBlur) \
  X(RandomGrayscale) X(RandomHue) X(RandomInvert) X(RandomPosterization) X(RandomSaturation) X(RandomSharpness) \
  X(ReLU) X(ReLU6) X(ReflectionPad1d) X(ReflectionPad2d) X(ReflectionPad3d) X(RepeatVector) X(ReplicationPad1d) \
  X(ReplicationPad2d) X(ReplicationPad3d) X(Rescaling) X(Reshape) X(Resizing) X(ReversibleEmbedding) X(RoIAlign) \
  X(RoIPool) X(SELU) X(SeparableConv1d) X(SeparableConv2d) X(SiLU) X(Sigmoid) X(SmoothL1Loss) X(SoftMarginLoss) \
  X(Softmax) X(Softmax2d) X(Softmin) X(Softplus) X(Softshrink) X(Softsign) X(Solarization) \
  X(SparseCategoricalCrossentropy) X(SquaredHinge) X(SqueezeExcitation) X(StackedRNNCells) X(StochasticDepth) \
  X(Subtract) X(SyncBatchNorm) X(Tanh) X(Tanhshrink) X(Threshold) X(TimeDistributed) X(Transformer) \
  X(TransformerDecoder) X(TransformerDecoderLayer) X(TransformerEncoder) X(TransformerEncoderLayer) \
  X(TripletMarginLoss) X(TripletMarginWithDistanceLoss) X(Tversky) X(Unflatten) X(Unfold) X(UnitNormalization) \
  X(Upsample) X(UpsamplingBilinear2d) X(UpsamplingNearest2d) X(ZeroPad1d) X(ZeroPad2d) X(ZeroPad3d)
// clang-format on

namespace saltern::nn {

#define SALTERN_LAYER(NAME) inline constexpr NamedLayer NAME{#NAME};
SALTERN_FOR_EACH_LAYER(SALTERN_LAYER)
#undef SALTERN_LAYER

}  // namespace saltern::nn
