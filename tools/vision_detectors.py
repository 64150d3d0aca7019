"""Detectors of tools/vision_networks.py that are in no library, as projects write them: heads, necks, decoders."""

import torch
import torch.nn as nn
import torch.nn.functional as F
import torchvision.models as tv
import torchvision.ops
from vision_blocks import Backbone, C2f, cba

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


NETWORKS = {
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
    "detr": (DETR, 96),
    "deformable": (Deformable, 64),
}
