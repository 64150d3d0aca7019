"""What several networks of tools/vision_detectors.py and tools/vision_models.py are made of, as projects write it."""

import torch
import torch.nn as nn
import torch.nn.functional as F


def cba(inside, out, k=3, s=1, g=1, act=nn.SiLU, d=1):
    return nn.Sequential(nn.Conv2d(inside, out, k, s, (k - 1) * d // 2, d, g, bias=False), nn.BatchNorm2d(out), act())


def segmentation(function):
    """A network of torchvision without its dictionary of outputs."""

    class Segmentation(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = function(weights=None, weights_backbone=None, num_classes=5)

        def forward(self, x):
            return self.net(x)["out"]

    return Segmentation()


class Bottleneck(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.a, self.b = cba(c, c), cba(c, c)

    def forward(self, x):
        return x + self.b(self.a(x))


class C2f(nn.Module):
    def __init__(self, inside, out, n=1):
        super().__init__()
        self.first, self.last = cba(inside, out, 1), cba((2 + n) * out // 2, out, 1)
        self.parts = nn.ModuleList([Bottleneck(out // 2) for _ in range(n)])

    def forward(self, x):
        y = list(self.first(x).chunk(2, 1))
        for part in self.parts:
            y.append(part(y[-1]))
        return self.last(torch.cat(y, 1))


class SPPF(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.a, self.b = cba(c, c // 2, 1), cba(c * 2, c, 1)

    def forward(self, x):
        y = [self.a(x)]
        for _ in range(3):
            y.append(F.max_pool2d(y[-1], 5, 1, 2))
        return self.b(torch.cat(y, 1))


class Attention(nn.Module):
    """Of YOLOv10 and 11: attention over positions, with a depthwise position encoding."""

    def __init__(self, c, heads=2):
        super().__init__()
        self.heads, self.size = heads, c // heads
        self.qkv = nn.Sequential(nn.Conv2d(c, 2 * c, 1, bias=False), nn.BatchNorm2d(2 * c))
        self.position, self.project = cba(c, c, 3, g=c, act=nn.Identity), cba(c, c, 1, act=nn.Identity)
        self.feed = nn.Sequential(cba(c, 2 * c, 1), cba(2 * c, c, 1, act=nn.Identity))

    def forward(self, x):
        b, c, h, w = x.shape
        q, k, v = self.qkv(x).view(b, self.heads, 2 * self.size, h * w).split(
            [self.size // 2, self.size // 2, self.size], 2)
        weights = ((q.transpose(-2, -1) @ k) * (self.size // 2) ** -0.5).softmax(-1)
        y = (v @ weights.transpose(-2, -1)).view(b, c, h, w) + self.position(v.reshape(b, c, h, w))
        x = x + self.project(y)
        return x + self.feed(x)


class Backbone(nn.Module):
    """Three scales with a pyramid in both directions (PAN)."""

    def __init__(self, attention):
        super().__init__()
        self.stem = nn.Sequential(cba(3, 16, 3, 2), cba(16, 32, 3, 2), C2f(32, 32))
        self.s3 = nn.Sequential(cba(32, 32, 3, 2), C2f(32, 32))
        self.s4 = nn.Sequential(cba(32, 64, 3, 2), C2f(64, 64))
        self.s5 = nn.Sequential(cba(64, 64, 3, 2), C2f(64, 64), SPPF(64), *([Attention(64)] if attention else []))
        self.up4, self.up3 = C2f(128, 64), C2f(96, 32)
        self.down3, self.down4 = cba(32, 32, 3, 2), cba(64, 64, 3, 2)
        self.out4, self.out5 = C2f(96, 64), C2f(128, 64)

    def forward(self, x):
        a = self.s3(self.stem(x))
        b = self.s4(a)
        c = self.s5(b)
        d = self.up4(torch.cat([F.interpolate(c, scale_factor=2.0), b], 1))
        e = self.up3(torch.cat([F.interpolate(d, scale_factor=2.0), a], 1))
        f = self.out4(torch.cat([self.down3(e), d], 1))
        return e, f, self.out5(torch.cat([self.down4(f), c], 1))
