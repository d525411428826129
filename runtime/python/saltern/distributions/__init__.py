"""Probability distributions, with the names and meaning of torch.distributions. Samples come from the stream that
saltern.manual_seed() begins; those of rsample() have gradients with respect to the parameters."""
from .distribution import Distribution, Independent, TransformedDistribution
from .transforms import AffineTransform, ExpTransform, SigmoidTransform, TanhTransform, Transform
from .locations import Cauchy, Gumbel, HalfNormal, Laplace, LogNormal, MultivariateNormal, Normal, Uniform
from .positive import Beta, Chi2, Dirichlet, Exponential, Gamma, Pareto, StudentT, Weibull
from .discrete import Bernoulli, Binomial, Categorical, Geometric, Multinomial, OneHotCategorical, Poisson
from .divergence import kl_divergence, register_kl
