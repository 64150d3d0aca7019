"""Networks of tools/vision_networks.py that are in no library: heads, decoders and small networks as projects write them."""

import torch
import torch.nn as nn
import torch.nn.functional as F
import torchvision.models as tv
import torchvision.ops


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


WIDTHS, STRIDES = (32, 64, 64), (8, 16, 32)


def grid_of(h, w):
    y, x = torch.meshgrid(torch.arange(h), torch.arange(w), indexing="ij")
    return torch.stack((x, y), 2).float()


class YOLOv5(nn.Module):
    """Anchors, decoded in the network."""

    def __init__(self, classes=4):
        super().__init__()
        self.body, self.no = Backbone(False), classes + 5
        self.heads = nn.ModuleList([nn.Conv2d(c, 3 * self.no, 1) for c in WIDTHS])
        self.register_buffer("anchors", torch.tensor([[10, 13, 16, 30, 33, 23], [30, 61, 62, 45, 59, 119],
                                                      [116, 90, 156, 198, 373, 326]]).float().view(3, 1, 3, 1, 1, 2))

    def forward(self, x):
        result = []
        for i, (y, head) in enumerate(zip(self.body(x), self.heads)):
            y = head(y)
            b, _, h, w = y.shape
            y = y.view(b, 3, self.no, h, w).permute(0, 1, 3, 4, 2).contiguous()
            xy, wh, scores = y.sigmoid().split((2, 2, self.no - 4), 4)
            xy = (xy * 2 + (grid_of(h, w) - 0.5)) * STRIDES[i]
            result.append(torch.cat((xy, (wh * 2) ** 2 * self.anchors[i], scores), 4).view(b, 3 * h * w, self.no))
        return torch.cat(result, 1)


class YOLOv8(nn.Module):
    """Boxes as distributions (DFL), without anchors; `nms`: the boxes that are left, as deployed networks end;
    `end2end`: the best boxes by TopK, as YOLOv10 ends."""

    def __init__(self, attention=False, nms=False, end2end=False, light=False, classes=4):
        super().__init__()
        self.body, self.nc, self.nms, self.end2end = Backbone(attention), classes, nms, end2end
        self.boxes = nn.ModuleList([nn.Sequential(cba(c, 32), cba(32, 32), nn.Conv2d(32, 64, 1)) for c in WIDTHS])
        self.scores = nn.ModuleList([
            nn.Sequential(cba(c, c, 3, g=c), cba(c, 32, 1), cba(32, 32, 3, g=32), nn.Conv2d(32, classes, 1)) if light
            else nn.Sequential(cba(c, 32), nn.Conv2d(32, classes, 1)) for c in WIDTHS])
        self.dfl = nn.Conv2d(16, 1, 1, bias=False)
        self.dfl.weight.data[:] = torch.arange(16).float().view(1, 16, 1, 1)
        self.dfl.weight.requires_grad = False

    def forward(self, x):
        y, anchors, strides = [], [], []
        for i, one in enumerate(self.body(x)):
            y.append(torch.cat((self.boxes[i](one), self.scores[i](one)), 1).flatten(2))
            h, w = one.shape[2:]
            anchors.append(grid_of(h, w).view(-1, 2) + 0.5)
            strides.append(torch.full((h * w, 1), float(STRIDES[i])))
        anchors, strides = torch.cat(anchors).t().unsqueeze(0), torch.cat(strides).t()
        boxes, scores = torch.cat(y, 2).split((64, self.nc), 1)
        b, _, n = boxes.shape
        left, right = self.dfl(boxes.view(b, 4, 16, n).transpose(2, 1).softmax(1)).view(b, 4, n).chunk(2, 1)
        corners = torch.cat((anchors - left, anchors + right), 1) * strides
        scores = scores.sigmoid()
        if self.end2end:
            best, index = torch.topk(scores.amax(1), 20, dim=-1)
            corners = corners.transpose(1, 2).gather(1, index.unsqueeze(-1).repeat(1, 1, 4))
            chosen = scores.transpose(1, 2).gather(1, index.unsqueeze(-1).repeat(1, 1, self.nc))
            value, place = torch.topk(chosen.flatten(1), 20, dim=-1)
            corners = corners.gather(1, (place // self.nc).unsqueeze(-1).repeat(1, 1, 4))
            return torch.cat([corners, value.unsqueeze(-1), (place % self.nc).unsqueeze(-1).float()], -1)
        low, high = corners.chunk(2, 1)
        if self.nms:
            top, _ = scores[0].max(0)
            kept = torchvision.ops.nms(corners[0].t(), top, 0.5)[:20]
            return corners[0].t()[kept], top[kept]
        return torch.cat(((low + high) / 2, high - low, scores), 1)


class YOLOX(nn.Module):
    """Focus, decoupled heads, exponential sizes."""

    def __init__(self):
        super().__init__()
        self.focus, self.body = cba(12, 16), nn.Sequential(cba(16, 32, 3, 2), C2f(32, 32), cba(32, 64, 3, 2), C2f(64, 64))
        self.stem = cba(64, 32, 1)
        self.box, self.cls = nn.Sequential(cba(32, 32), cba(32, 32)), nn.Sequential(cba(32, 32), cba(32, 32))
        self.reg, self.obj, self.score = nn.Conv2d(32, 4, 1), nn.Conv2d(32, 1, 1), nn.Conv2d(32, 4, 1)

    def forward(self, x):
        x = torch.cat((x[..., ::2, ::2], x[..., 1::2, ::2], x[..., ::2, 1::2], x[..., 1::2, 1::2]), 1)
        x = self.stem(self.body(self.focus(x)))
        b, c = self.box(x), self.cls(x)
        y = torch.cat([self.reg(b), self.obj(b).sigmoid(), self.score(c).sigmoid()], 1).flatten(2).permute(0, 2, 1)
        grid = grid_of(x.shape[2], x.shape[3]).view(1, -1, 2)
        return torch.cat([(y[..., :2] + grid) * 8.0, torch.exp(y[..., 2:4]) * 8.0, y[..., 4:]], -1)


class CenterNet(nn.Module):
    """Peaks of a heat map by MaxPool and equality, the best of them by TopK."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(cba(3, 16, 3, 2, act=nn.ReLU), cba(16, 32, 3, 2, act=nn.ReLU), cba(32, 32, act=nn.ReLU))
        self.up = nn.ConvTranspose2d(32, 32, 4, 2, 1, groups=32, bias=False)
        self.heat, self.size = nn.Conv2d(32, 3, 1), nn.Conv2d(32, 2, 1)

    def forward(self, x):
        x = self.up(self.body(x))
        heat, size = self.heat(x).sigmoid(), self.size(x)
        heat = heat * (F.max_pool2d(heat, 3, 1, 1) == heat).float()
        score, index = torch.topk(heat.flatten(1), 16)
        cells = heat.shape[2] * heat.shape[3]
        place = index % cells
        boxes = size.flatten(2).gather(2, place.unsqueeze(1).expand(-1, 2, -1))
        return score, (index // cells).float(), place.float(), boxes


class BlazeFace(nn.Module):
    class Block(nn.Module):
        def __init__(self, a, b, s=1):
            super().__init__()
            self.s, self.more = s, b - a
            self.net = nn.Sequential(nn.Conv2d(a, a, 5, s, 2 if s == 1 else 0, groups=a), nn.Conv2d(a, b, 1))

        def forward(self, x):
            y = x
            if self.s == 2:
                x, y = F.max_pool2d(x, 2, 2), F.pad(y, (1, 2, 1, 2))
            if self.more:
                x = F.pad(x, (0, 0, 0, 0, 0, self.more))
            return F.relu(self.net(y) + x)

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 24, 5, 2)
        blocks = [(24, 24), (24, 28), (28, 32, 2), (32, 36), (36, 42), (42, 48, 2), (48, 56), (56, 88)]
        self.body = nn.Sequential(*[self.Block(*one) for one in blocks])
        self.more = self.Block(88, 96, 2)
        self.scores = nn.ModuleList([nn.Conv2d(88, 2, 1), nn.Conv2d(96, 6, 1)])
        self.boxes = nn.ModuleList([nn.Conv2d(88, 32, 1), nn.Conv2d(96, 96, 1)])

    def forward(self, x):
        a = self.body(F.relu(self.first(F.pad(x, (1, 2, 1, 2)))))
        b = self.more(a)
        scores = [head(y).permute(0, 2, 3, 1).reshape(1, -1, 1) for head, y in zip(self.scores, (a, b))]
        boxes = [head(y).permute(0, 2, 3, 1).reshape(1, -1, 16) for head, y in zip(self.boxes, (a, b))]
        return torch.cat(boxes, 1), torch.cat(scores, 1)


class FPN(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = tv.mobilenet_v3_small(weights=None).features
        self.pyramid = torchvision.ops.FeaturePyramidNetwork([24, 48, 576], 32)
        self.head = nn.Sequential(nn.Conv2d(32, 32, 3, 1, 1), nn.GroupNorm(8, 32), nn.ReLU(), nn.Conv2d(32, 5, 3, 1, 1))

    def forward(self, x):
        kept = {}
        for i, block in enumerate(self.body):
            x = block(x)
            if i in (3, 8, 12):
                kept[str(i)] = x
        return tuple(self.head(y) for y in self.pyramid(kept).values())


class BiFPN(nn.Module):
    """Weighted sums of scales (EfficientDet)."""

    def __init__(self):
        super().__init__()
        self.s = nn.ModuleList([cba(a, 32, 3, 2) for a in (3, 32, 32, 32)])
        self.weights = nn.Parameter(torch.rand(4, 2))
        self.mix = nn.ModuleList([nn.Sequential(cba(32, 32, 3, g=32, act=nn.Identity), cba(32, 32, 1)) for _ in range(4)])

    def sum(self, i, a, b):
        w = F.relu(self.weights[i])
        w = w / (w.sum() + 1e-4)
        return self.mix[i](F.silu(w[0] * a + w[1] * b))

    def forward(self, x):
        _, a, b, c = [x := block(x) for block in self.s]
        d = self.sum(0, b, F.interpolate(c, scale_factor=2))
        e = self.sum(1, a, F.interpolate(d, size=a.shape[2:]))
        f = self.sum(2, d, F.max_pool2d(e, 3, 2, 1))
        return e, f, self.sum(3, c, F.max_pool2d(f, 3, 2, 1))


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


class DETR(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(cba(3, 16, 3, 2, act=nn.ReLU), cba(16, 32, 3, 2, act=nn.ReLU),
                                  cba(32, 64, 3, 2, act=nn.ReLU))
        self.transformer = nn.Transformer(64, 4, 1, 2, 128, 0.0, batch_first=True)
        self.queries, self.rows, self.columns = [nn.Parameter(torch.rand(n, c)) for n, c in ((12, 64), (32, 32), (32, 32))]
        self.classes, self.boxes = nn.Linear(64, 5), nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 4))

    def forward(self, x):
        y = self.body(x)
        h, w = y.shape[2:]
        where = torch.cat([self.columns[:w].unsqueeze(0).repeat(h, 1, 1), self.rows[:h].unsqueeze(1).repeat(1, w, 1)], -1)
        y = self.transformer(where.flatten(0, 1).unsqueeze(0) + 0.1 * y.flatten(2).permute(0, 2, 1),
                             self.queries.unsqueeze(0).expand(y.shape[0], -1, -1))
        return self.classes(y), self.boxes(y).sigmoid()


class Deformable(nn.Module):
    """Sampling at predicted places (GridSample), as RT-DETR and deformable attention."""

    def __init__(self):
        super().__init__()
        self.body, self.offset = nn.Sequential(cba(3, 16, 3, 2), cba(16, 32, 3, 2)), nn.Conv2d(32, 2, 3, 1, 1)
        self.weight, self.head = nn.Conv2d(32, 1, 1), nn.Conv2d(32, 5, 1)

    def forward(self, x):
        y = self.body(x)
        h, w = y.shape[2:]
        grid = (grid_of(h, w) / h * 2 - 1).unsqueeze(0) + torch.tanh(self.offset(y).permute(0, 2, 3, 1)) * 0.2
        y = F.grid_sample(y, grid, align_corners=False) * self.weight(y).sigmoid()
        return self.head(y)


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
    "yolo_v5": (YOLOv5, 128),
    "yolo_v8": (YOLOv8, 128),
    "yolo_v8_nms": (lambda: YOLOv8(nms=True), 128),
    "yolo_v10": (lambda: YOLOv8(attention=True, end2end=True, light=True), 128),
    "yolo_v11": (lambda: YOLOv8(attention=True, light=True), 128),
    "yolox": (YOLOX, 96),
    "centernet": (CenterNet, 96),
    "blazeface": (BlazeFace, 96),
    "fpn": (FPN, 96),
    "bifpn": (BiFPN, 96),
    "aspp": (ASPP, 66),
    "pose_simcc": (Pose, (128, 96)),
    "pose_heatmap": (HeatmapPose, (128, 96)),
    "crnn": (CRNN, (32, 96)),
    "svtr": (SVTR, (32, 96)),
    "detr": (DETR, 96),
    "deformable": (Deformable, 64),
    "depth": (Depth, 64),
    "mobilefacenet": (FaceMesh, 64),
    "style": (StyleTransfer, 48),
    "autoencoder": (Autoencoder, 64),
    "flow": (OpticalFlow, 64),
    "video": (Video, 32),
}
