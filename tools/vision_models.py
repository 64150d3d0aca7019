"""Other networks of tools/vision_networks.py that are in no library: pixels to pixels, poses, text, video."""

import torch
import torch.nn as nn
import torch.nn.functional as F
import torchvision.models as tv
from vision_blocks import C2f, cba


class UNet(nn.Module):
    def __init__(self, up):
        super().__init__()
        self.up = up
        widths = (8, 16, 32)
        self.down = nn.ModuleList([self.pair(a, b) for a, b in zip((3, *widths), widths)])
        self.bottom = self.pair(32, 64)
        self.ups = nn.ModuleList([nn.ConvTranspose2d(a, b, 2, 2) if up == "transpose" else cba(a, b, 1, act=nn.ReLU)
                                  for a, b in ((64, 32), (32, 16), (16, 8))])
        self.back = nn.ModuleList([self.pair(a, b) for a, b in ((64, 32), (32, 16), (16, 8))])
        self.head = nn.Conv2d(8, 2, 1)

    @staticmethod
    def pair(a, b):
        return nn.Sequential(cba(a, b, act=nn.ReLU), cba(b, b, act=nn.ReLU))

    def forward(self, x):
        kept = []
        for block in self.down:
            x = block(x)
            kept.append(x)
            x = F.max_pool2d(x, 2)
        x = self.bottom(x)
        for up, block, skip in zip(self.ups, self.back, reversed(kept)):
            if self.up != "transpose":
                x = F.interpolate(x, scale_factor=2, mode=self.up, align_corners=False if self.up == "bilinear" else None)
            x = block(torch.cat([up(x), skip], 1))
        return torch.sigmoid(self.head(x))


class ESPCN(nn.Module):
    planes = 1

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(1, 64, 5, 1, 2), nn.Tanh(), nn.Conv2d(64, 32, 3, 1, 1), nn.Tanh(),
                                 nn.Conv2d(32, 9, 3, 1, 1), nn.PixelShuffle(3))

    def forward(self, x):
        return torch.clamp(self.net(x), 0, 1)


class FSRCNN(nn.Module):
    planes = 1

    def __init__(self):
        super().__init__()
        layers = [nn.Conv2d(1, 56, 5, 1, 2), nn.PReLU(56), nn.Conv2d(56, 12, 1), nn.PReLU(12)]
        for _ in range(4):
            layers += [nn.Conv2d(12, 12, 3, 1, 1), nn.PReLU(12)]
        layers += [nn.Conv2d(12, 56, 1), nn.PReLU(56), nn.ConvTranspose2d(56, 1, 9, 3, 4, 2)]
        self.net = nn.Sequential(*layers)

    def forward(self, x):
        return self.net(x)


class EDSR(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Conv2d(3, 16, 3, 1, 1)
        self.body = nn.ModuleList([nn.Sequential(nn.Conv2d(16, 16, 3, 1, 1), nn.LeakyReLU(0.2),
                                                 nn.Conv2d(16, 16, 3, 1, 1)) for _ in range(3)])
        self.tail = nn.Sequential(nn.Conv2d(16, 64, 3, 1, 1), nn.PixelShuffle(2), nn.Conv2d(16, 3, 3, 1, 1))

    def forward(self, x):
        x = first = self.head(x)
        for block in self.body:
            x = x + 0.1 * block(x)
        return self.tail(x + first) + F.interpolate(torch.zeros_like(first)[:, :3], scale_factor=2, mode="bicubic")


class ASPP(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(cba(3, 16, 3, 2, act=nn.ReLU), cba(16, 32, 3, 2, act=nn.ReLU))
        self.aspp = tv.segmentation.deeplabv3.ASPP(32, [2, 4, 6], 32)
        self.head = nn.Conv2d(32, 5, 1)

    def forward(self, x):
        y = self.head(self.aspp(self.body(x)))
        return F.interpolate(y, size=x.shape[2:], mode="bilinear", align_corners=True).argmax(1)


class Pose(nn.Module):
    """SimCC: a keypoint as two rows of probabilities (RTMPose)."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(cba(3, 16, 3, 2), cba(16, 32, 3, 2), C2f(32, 32), cba(32, 64, 3, 2))
        self.final, self.mlp = nn.Conv2d(64, 17, 7, 1, 3), nn.Linear(192, 64, bias=False)
        self.scale = nn.Parameter(torch.ones(1))
        self.uv, self.o = nn.Linear(64, 160, bias=False), nn.Linear(64, 64, bias=False)
        self.gamma, self.beta = nn.Parameter(torch.rand(2, 32)), nn.Parameter(torch.rand(2, 32))
        self.x, self.y = nn.Linear(64, 128, bias=False), nn.Linear(64, 128, bias=False)

    def norm(self, x):
        return x / torch.clamp(torch.linalg.norm(x, dim=-1, keepdim=True) * x.shape[-1] ** -0.5, min=1e-5) * self.scale

    def forward(self, x):
        x = self.mlp(self.norm(self.final(self.body(x)).flatten(2)))
        u, v, base = F.silu(self.uv(self.norm(x))).split([64, 64, 32], -1)
        q, k = (base.unsqueeze(2) * self.gamma + self.beta).unbind(2)
        x = x + self.o(u * (torch.square(F.relu(q @ k.transpose(1, 2) / 8)) @ v))
        return self.x(x), self.y(x)


class HeatmapPose(nn.Module):
    """Deconvolutions and soft-argmax."""

    def __init__(self):
        super().__init__()
        self.body = tv.mobilenet_v2(weights=None, width_mult=0.35).features[:14]
        self.up = nn.Sequential(nn.ConvTranspose2d(32, 32, 4, 2, 1, bias=False), nn.BatchNorm2d(32), nn.ReLU(),
                                nn.ConvTranspose2d(32, 32, 4, 2, 1, bias=False), nn.BatchNorm2d(32), nn.ReLU())
        self.head = nn.Conv2d(32, 17, 1)

    def forward(self, x):
        heat = self.head(self.up(self.body(x)))
        b, k, h, w = heat.shape
        p = heat.flatten(2).softmax(-1).view(b, k, h, w)
        x = (p.sum(2) * torch.arange(w).float()).sum(-1)
        return heat, torch.stack([x, (p.sum(3) * torch.arange(h).float()).sum(-1)], -1)


class CRNN(nn.Module):
    planes = 1

    def __init__(self):
        super().__init__()
        sizes = [(1, 16), (16, 32), (32, 64)]
        self.body = nn.Sequential(*[nn.Sequential(cba(a, b, act=nn.ReLU), nn.MaxPool2d((2, 2) if i < 2 else (2, 1)))
                                    for i, (a, b) in enumerate(sizes)], nn.Conv2d(64, 64, (4, 1)))
        self.rnn, self.head = nn.LSTM(64, 48, 2, bidirectional=True, batch_first=True), nn.Linear(96, 37)

    def forward(self, x):
        x = self.body(x).squeeze(2).permute(0, 2, 1)
        return F.log_softmax(self.head(self.rnn(x)[0]), -1)


class SVTR(nn.Module):
    """Text lines by convolutions and attention (PaddleOCR), hard swishes."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(cba(3, 16, 3, 2, act=nn.Hardswish), cba(16, 32, 3, (2, 1), g=16, act=nn.Hardswish),
                                  cba(32, 64, 3, (2, 1), act=nn.Hardswish))
        layer = nn.TransformerEncoderLayer(64, 4, 128, 0.0, "gelu", batch_first=True, norm_first=True)
        self.mix, self.head = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), nn.Linear(64, 97)

    def forward(self, x):
        x = F.avg_pool2d(self.body(x), (4, 1)).squeeze(2).permute(0, 2, 1)
        return self.head(self.mix(x)).softmax(-1)


class Depth(nn.Module):
    """Encoder with skips, bilinear upsampling with aligned corners, inverse depth (MiDaS)."""

    def __init__(self):
        super().__init__()
        self.s = nn.ModuleList([cba(a, b, 3, 2, act=nn.ELU) for a, b in ((3, 16), (16, 32), (32, 64))])
        self.project = nn.ModuleList([nn.Conv2d(c, 32, 1) for c in (16, 32, 64)])
        self.mix = nn.ModuleList([nn.Sequential(nn.ReLU(), nn.Conv2d(32, 32, 3, 1, 1), nn.ReLU(), nn.Conv2d(32, 32, 3, 1, 1))
                                  for _ in range(3)])
        self.head = nn.Sequential(nn.ReflectionPad2d(1), nn.Conv2d(32, 16, 3), nn.ELU(), nn.Conv2d(16, 1, 1), nn.Softplus())

    def forward(self, x):
        scales = [x := block(x) for block in self.s]
        y = 0
        for i in (2, 1, 0):
            y = y + self.project[i](scales[i])
            y = F.interpolate(y + self.mix[i](y), scale_factor=2, mode="bilinear", align_corners=True)
        return 1 / (0.1 + self.head(y))


class FaceMesh(nn.Module):
    """PReLU, depthwise blocks, global depthwise layer, normalized embedding (MobileFaceNet)."""

    def __init__(self):
        super().__init__()
        act = lambda c: lambda: nn.PReLU(c)
        self.body = nn.Sequential(cba(3, 32, 3, 2, act=act(32)), cba(32, 32, 3, 1, 32, act(32)), cba(32, 64, 1, act=act(64)),
                                  cba(64, 64, 3, 2, 64, act(64)), cba(64, 64, 1, act=nn.Identity),
                                  nn.Conv2d(64, 64, 16, groups=64, bias=False), nn.BatchNorm2d(64), nn.Flatten(),
                                  nn.Linear(64, 64, bias=False), nn.BatchNorm1d(64))

    def forward(self, x):
        return F.normalize(self.body(x))


class StyleTransfer(nn.Module):
    """Instance normalization, reflected borders, nearest upsampling."""

    def __init__(self):
        super().__init__()
        def layer(a, b, k, s, up=1):
            return nn.Sequential(*([nn.Upsample(scale_factor=up)] if up > 1 else []), nn.ReflectionPad2d(k // 2),
                                 nn.Conv2d(a, b, k, s), nn.InstanceNorm2d(b, affine=True), nn.ReLU())
        self.net = nn.Sequential(layer(3, 8, 9, 1), layer(8, 16, 3, 2), layer(16, 32, 3, 2), layer(32, 16, 3, 1, 2),
                                 layer(16, 8, 3, 1, 2), nn.ReflectionPad2d(4), nn.Conv2d(8, 3, 9))

    def forward(self, x):
        return self.net(x)


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode = nn.Sequential(nn.Conv2d(3, 16, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(16, 32, 4, 2, 1), nn.LeakyReLU(0.2))
        self.mean = nn.Linear(32 * 16 * 16, 16)
        self.decode = nn.Sequential(nn.Linear(16, 32 * 16 * 16), nn.Unflatten(1, (32, 16, 16)),
                                    nn.ConvTranspose2d(32, 16, 4, 2, 1), nn.LeakyReLU(0.2), nn.ConvTranspose2d(16, 3, 4, 2, 1))

    def forward(self, x):
        return torch.tanh(self.decode(self.mean(self.encode(x).flatten(1))))


class OpticalFlow(nn.Module):
    """Correlation of two images over shifts."""

    planes = 6

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(cba(3, 16, 3, 2, act=nn.ReLU), cba(16, 16, 3, 2, act=nn.ReLU))
        self.flow = nn.Sequential(cba(25, 32, act=nn.ReLU), nn.Conv2d(32, 2, 3, 1, 1))

    def forward(self, x):
        a, b = self.body(x[:, :3]), self.body(x[:, 3:])
        padded = F.pad(b, (2, 2, 2, 2))
        h, w = a.shape[2:]
        cost = torch.cat([(a * padded[:, :, i:i + h, j:j + w]).mean(1, keepdim=True) for i in range(5) for j in range(5)], 1)
        return F.interpolate(self.flow(cost), scale_factor=4, mode="bilinear") * 4


class Video(nn.Module):
    """Frames as a third axis, and shifts of channels between them."""

    planes = 3

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv3d(3, 8, 3, (1, 2, 2), 1), nn.BatchNorm3d(8), nn.ReLU(), nn.MaxPool3d(2),
                                 nn.Conv3d(8, 16, (3, 1, 1), 1, (1, 0, 0)), nn.Hardswish(), nn.AdaptiveAvgPool3d(1),
                                 nn.Flatten(), nn.Linear(16, 5))

    def forward(self, x):
        return self.net(x.unsqueeze(2).repeat(1, 1, 4, 1, 1) * torch.arange(1, 5).view(1, 1, 4, 1, 1))


NETWORKS = {
    "unet_transpose": (lambda: UNet("transpose"), 64),
    "unet_nearest": (lambda: UNet("nearest"), 64),
    "unet_bilinear": (lambda: UNet("bilinear"), 64),
    "espcn": (ESPCN, 48),
    "fsrcnn": (FSRCNN, 32),
    "edsr": (EDSR, 48),
    "aspp": (ASPP, 66),
    "pose_simcc": (Pose, (128, 96)),
    "pose_heatmap": (HeatmapPose, (128, 96)),
    "crnn": (CRNN, (32, 96)),
    "svtr": (SVTR, (32, 96)),
    "depth": (Depth, 64),
    "mobilefacenet": (FaceMesh, 64),
    "style": (StyleTransfer, 48),
    "autoencoder": (Autoencoder, 64),
    "flow": (OpticalFlow, 64),
    "video": (Video, 32),
}
