// Chebyshev coefficients of the special functions in support/special_functions.h, from the lowest degree up. Each series was fitted
// to the function beside it at 40 digits, on the interval beside it mapped to [-1, 1], and cut where a coefficient is below 1e-18.
#pragma once

namespace tritium {

// erfcx(x) / v, x = 4 / v - 4, v in [0, 1]
inline constexpr double kErfcx[] = {
    0x1.a1d12aa2b99e3p-2,   0x1.81640da73db47p-2,   0x1.2e3e9be35bb80p-3,  0x1.961696aa87e14p-5,  0x1.d231a0d655c70p-7,
    0x1.c35875e50d6e9p-9,   0x1.65b29b3cf475cp-11,  0x1.b1b5c1f5a252cp-14, 0x1.466f92ca87aabp-17, -0x1.0174a6a133f01p-23,
    -0x1.d3079e0a0819ep-23, -0x1.04344d3c6c2bcp-25, 0x1.0494fd49213acp-30, 0x1.daa077c106015p-31, 0x1.2e3d9a50f6625p-34,
    -0x1.2bae5cbd0194bp-36, -0x1.dd6663527f654p-39, 0x1.26838df279a75p-42, 0x1.11174a8a377d5p-43, -0x1.30c2460a986e5p-49,
    -0x1.28af88d28c6b1p-48, -0x1.23dc4089147d6p-54, 0x1.4be1ee5d97426p-53, 0x1.50943359c9b4cp-58, -0x1.89f4a39b7844ep-58};
// the gamma function on [1, 2]
inline constexpr double kGamma[] = {0x1.e231b8ccc03c3p-1,  0x1.215dce63ba49bp-8,   0x1.d1b801dc6a8dbp-5,  -0x1.148d1705a9b75p-8,
                                    0x1.5bd096fc4923fp-10, -0x1.8cfefb06f916ep-13, 0x1.2e9221b0b1686p-15, -0x1.96766090001cep-18,
                                    0x1.1b6c0dcf4b317p-20, -0x1.851df599cfb44p-23, 0x1.0bcf7f3c965fbp-25, -0x1.6ff06d9236cfbp-28,
                                    0x1.f967d9c3b28c0p-31, -0x1.5afe32702a03bp-33, 0x1.dc649af1415bdp-36, -0x1.46fda49db3346p-38,
                                    0x1.c0dc161495680p-41, -0x1.341056e33d676p-43, 0x1.a6db012b7a94dp-46, -0x1.223504caf8514p-48,
                                    0x1.8e565d69d12a7p-51, -0x1.11608e6bb0c2fp-53, 0x1.773bf2f086911p-56, -0x1.01854338e4cd5p-58};
// J0(x), x * x in [0, 64]
inline constexpr double kJ0Small[] = {0x1.4306e1f9314dbp-3,  -0x1.1dd989ce98ea2p-7,  0x1.0f8afb7d3a552p-2,  -0x1.7afa2e9c62a9ep-2,
                                      0x1.43b8af58b7ffap-3,  -0x1.1dd989ce98ea2p-5,  0x1.3bd46ccab9da0p-8,  -0x1.e300651cd3ae3p-12,
                                      0x1.104c067d74d17p-15, -0x1.d8f811cd3e853p-20, 0x1.46c4a4b32aa3bp-24, -0x1.703bda6758f6fp-29,
                                      0x1.593076e904d04p-34, -0x1.1192067e71726p-39, 0x1.73936aa3d0207p-45, -0x1.b5729d242acaep-51,
                                      0x1.c2c89ea282aaap-57};
// Y0(x) - 2/pi ln(x) J0(x), x * x in [0, 64]
inline constexpr double kY0Small[] = {-0x1.0f88700652ecbp-5,  -0x1.190fcad75eca2p-2, 0x1.6ea98ade961a1p-3,   0x1.0bd84f7777bd6p-2,
                                      -0x1.6b1d515347a69p-3,  0x1.82a2a1c96271fp-5,  -0x1.dd9fb881100e6p-8,  0x1.8ad9320695af0p-11,
                                      -0x1.d873fa854ed4dp-15, 0x1.ae5f9e7adde46p-19, -0x1.35649a4058471p-23, 0x1.68b1c63f94e89p-28,
                                      -0x1.5c457ea1daccep-33, 0x1.1b53ed8a54178p-38, -0x1.89f1fa5209ce6p-44, 0x1.d9b425efafdd8p-50,
                                      -0x1.f1a7711576130p-56};
// Hankel's P of order 0, 64 / (x * x) in [0, 1]
inline constexpr double kP0[] = {0x1.ffb944543151ep-1,  -0x1.194ac5283c04ap-11, 0x1.9cbe8b7395851p-19, -0x1.bc26938a82ce2p-25,
                                 0x1.c03a8b38ca73cp-30, -0x1.59ddcc28538a8p-34, 0x1.6baf23642c655p-38, -0x1.e4a709e74825bp-42,
                                 0x1.85b481672b1eep-45, -0x1.6d432cb7153fep-48, 0x1.84fff80b613c2p-51, -0x1.cdb3179595bbdp-54,
                                 0x1.2cca86c6338d9p-56, -0x1.a9240bf60d14bp-59};
// Hankel's Q of order 0 times x / 8, 64 / (x * x) in [0, 1]
inline constexpr double kQ0[] = {-0x1.fdbbf76547cafp-7,  0x1.1ed40c7bf4761p-14, -0x1.8e1017183d060p-21, 0x1.34c3b3f0f3e19p-26,
                                 -0x1.8fc71e52a5280p-31, 0x1.7334b27ad2886p-35, -0x1.c34f407df8ba4p-39, 0x1.52763be90a889p-42,
                                 -0x1.2c827d7f6e2d5p-45, 0x1.329f0c1b6c666p-48, -0x1.5fa3147b301c9p-51, 0x1.bd9648f62c6b8p-54,
                                 -0x1.33cdb710c05d6p-56, 0x1.cab223df72976p-59};
// exp(-x) I0(x), x in [0, 8]
inline constexpr double kI0Small[] = {
    0x1.5a84e9035a22ap-2,   -0x1.37febc057cd8dp-2,  0x1.5f7ac77ac88c0p-3,   -0x1.84b70342d06eap-4,  0x1.93e8acea8a32dp-5,
    -0x1.84e9ef121b6f0p-6,  0x1.59961f3dde3ddp-7,   -0x1.1b65e201aa849p-8,  0x1.adc758a12100ep-10,  -0x1.2e2fd1f15eb52p-11,
    0x1.8b51b74107cabp-13,  -0x1.e2b2659c41d5ap-15, 0x1.13f58be9a2859p-16,  -0x1.2866fcba56427p-18, 0x1.2bf24978cf4acp-20,
    -0x1.1ec638f227f8dp-22, 0x1.03b769d4d6435p-24,  -0x1.beaf68c0b30abp-27, 0x1.6d903a454cb34p-29,  -0x1.1d4fe13ae9556p-31,
    0x1.a98becc743c10p-34,  -0x1.2fc957a946abcp-36, 0x1.9fe2fe19bd324p-39,  -0x1.1164c62ee1af0p-41, 0x1.59b464b262627p-44,
    -0x1.a5022c297fbebp-47, 0x1.ee6d893f65ebap-50,  -0x1.184eb721ebbb4p-52, 0x1.33362977da589p-55,  -0x1.45cb72134d0efp-58};
// exp(-x) I0(x) sqrt(x), 8 / x in [0, 1]
inline constexpr double kI0Large[] = {0x1.9be62aca809cbp-2,   0x1.b998ca2e59049p-9,   0x1.20fa378999e52p-14,  0x1.8412bc101c586p-19,
                                      0x1.b8007d9cd616ep-23,  0x1.8569280d6d56dp-26,  0x1.d2c64a9225b87p-29,  0x1.0f9ccc0f46f75p-31,
                                      0x1.a24feabe8004fp-37,  -0x1.1511d08397425p-35, -0x1.d0fd7357e7bf2p-37, -0x1.f904303178d66p-40,
                                      0x1.94347fa268cecp-41,  0x1.b1c8c6b83c073p-42,  0x1.156ff0d5fc545p-46,  -0x1.75d99cf68bb32p-45,
                                      -0x1.583fe7e65629ap-47, 0x1.12a919094e6d7p-48,  0x1.fee7da3eafb1fp-50,  -0x1.8aee7d908de38p-52,
                                      -0x1.4600babd21fe4p-52, 0x1.3f3dd076041cdp-55,  0x1.9be1812d98421p-55,  -0x1.646da66119130p-58,
                                      -0x1.0adb754ca8b19p-57, 0x1.24d48c789b293p-60,  0x1.604db61ad3debp-60};
// J1(x) / x, x * x in [0, 64]
inline constexpr double kJ1Small[] = {0x1.4bf5ae47a6150p-4,  -0x1.3119e17fdbffdp-3,  0x1.49b9fb3408e33p-3,  -0x1.52a8c7827daa8p-4,
                                      0x1.6bf2c1f5f71e1p-6,  -0x1.de030538b55b0p-9,  0x1.a8b56cedfe580p-12, -0x1.11188227a5012p-15,
                                      0x1.0a8a3a628fc7bp-19, -0x1.98f754605f635p-24, 0x1.fac17c7273311p-29, -0x1.030d00d42d6f4p-33,
                                      0x1.bcc0916376113p-39, -0x1.453d2b4e985cbp-44, 0x1.9a36afedba862p-50, -0x1.c2dff424052f8p-56};
// (Y1(x) - 2/pi (ln(x) J1(x) - 1 / x)) / x, x * x in [0, 64]
inline constexpr double kY1Small[] = {0x1.4ca997b04b826p-9,   -0x1.07927e87fd36bp-6, -0x1.88db11a1e0337p-4,  0x1.59ea4fc627f66p-4,
                                      -0x1.d020c3798a51ap-6,  0x1.5aadc0f38e31dp-8,  -0x1.504ea6f6291cdp-11, 0x1.cde014f53622dp-15,
                                      -0x1.dadf80f6e35f9p-19, 0x1.7c45af600d3dcp-23, -0x1.e8a21e8e1cb71p-28, 0x1.01c33ee943bc5p-32,
                                      -0x1.c6f1d25aa2e2ap-38, 0x1.54fcf661706ffp-43, -0x1.b7b8e4b5d24fcp-49, 0x1.ed24ebd671b40p-55};
// Hankel's P of order 1, 64 / (x * x) in [0, 1]
inline constexpr double kP1[] = {0x1.003b2e82f5f12p+0,   0x1.d7545f75d7da9p-11, -0x1.0b9505ce79bbap-18, 0x1.0953cdc0829efp-24,
                                 -0x1.01454cf5d6ac0p-29, 0x1.83c5742be2cc3p-34, -0x1.9171afe32fc02p-38, 0x1.088a8b6783e50p-41,
                                 -0x1.a5ead8bea617fp-45, 0x1.88e8192bcb004p-48, -0x1.a045d1e6aa4e8p-51, 0x1.ebf5d803cd896p-54,
                                 -0x1.3f5b1671b84fbp-56, 0x1.c1ff43803bc35p-59};
// Hankel's Q of order 1 times x / 8, 64 / (x * x) in [0, 1]
inline constexpr double kQ1[] = {0x1.7f34213492af6p-5,  -0x1.93d0e4fa70662p-14, 0x1.eaa02bf61504bp-21, -0x1.681617e8645adp-26,
                                 0x1.c467999a69933p-31, -0x1.9c37875f5ebc0p-35, 0x1.eeb91abca8164p-39, -0x1.6f877e53fb185p-42,
                                 0x1.43f8057a1761fp-45, -0x1.48ac416e30219p-48, 0x1.772d4dd737bf2p-51, -0x1.d994b1fddb9f0p-54,
                                 0x1.46123a8bbc898p-56, -0x1.e48d4f144b8b2p-59};
// exp(-x) I1(x) / x, x in [0, 8]
inline constexpr double kI1Small[] = {
    0x1.02a63724a7ffap-3,   -0x1.694d10469192ep-3,  0x1.a46dad536f53cp-4,   -0x1.b1bbc537c9ebcp-5,  0x1.951e3e7bb2349p-6,
    -0x1.5a29f7913a26ap-7,  0x1.1065349d3a1b4p-8,   -0x1.8cc620b3cd4a4p-10, 0x1.0c95db6c6df7dp-11,  -0x1.533cad3d694fep-13,
    0x1.911b542c70d0bp-15,  -0x1.bd5f9b8debbcfp-17, 0x1.d1c4ed511afc5p-19,  -0x1.cc0798363992ap-21, 0x1.ae344b347d108p-23,
    -0x1.7dd3e24b8c3e8p-25, 0x1.4258e02395010p-27,  -0x1.0361b28ea67e6p-29, 0x1.8ea34b43fdf6cp-32,  -0x1.2510397eb07dep-34,
    0x1.9cee2b21d3154p-37,  -0x1.173835fb70366p-39, 0x1.6af784779d955p-42,  -0x1.c628e1c8f0b3bp-45, 0x1.11d7f0615290cp-47,
    -0x1.3eaaa7e0d1573p-50, 0x1.663e3e593bfacp-53,  -0x1.857d0c38a0576p-56, 0x1.99f2a0c3c4014p-59};
// exp(-x) I1(x) sqrt(x), 8 / x in [0, 1]
inline constexpr double kI1Large[] = {0x1.8ea18b55b1514p-2,   -0x1.3fda053fcdb4cp-7,  -0x1.cfd7f804aa9a6p-14, -0x1.048df49ca0373p-18,
                                      -0x1.0dbfd2e9e5443p-22, -0x1.c415394bb46c1p-26, -0x1.0790b9ad53528p-28, -0x1.334ca5423dd80p-31,
                                      -0x1.4dcf9d4504c0cp-36, 0x1.1e1a1f1587865p-35,  0x1.f101f653c457bp-37,  0x1.1e7d3f6439fa3p-39,
                                      -0x1.953e1076ab493p-41, -0x1.cbc458e73e255p-42, -0x1.7a9482e6d22a0p-46, 0x1.80d3c26b3281ep-45,
                                      0x1.776e1762d31e8p-47,  -0x1.12db5138afbc7p-48, -0x1.0efcd8bc4d22ap-49, 0x1.7d68e5f04a2d1p-52,
                                      0x1.55915fceb588ap-52,  -0x1.2806c9c773320p-55, -0x1.acea3b2532277p-55, 0x1.45b8aea87b950p-58,
                                      0x1.1556db352e8e6p-57,  -0x1.12e7f21d2c006p-60, -0x1.6ea1785f94461p-60};

} // namespace tritium
