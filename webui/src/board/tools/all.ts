/** The tools by their names. */

import { ActingTool } from "./acting-tool";
import {
  ArrowTool,
  EraserTool,
  FrameTool,
  HandTool,
  InkTool,
  ShapeTool,
  StickyTool,
  TextTool,
} from "./drawing-tools";
import { SelectTool } from "./select-tool";
import type { Desk, Tool, ToolName } from "./tool";

const MAKERS: Readonly<Record<ToolName, (desk: Desk) => Tool>> = {
  select: (desk) => new SelectTool(desk),
  hand: (desk) => new HandTool(desk),
  rectangle: (desk) => new ShapeTool(desk, "rectangle"),
  ellipse: (desk) => new ShapeTool(desk, "ellipse"),
  diamond: (desk) => new ShapeTool(desk, "diamond"),
  arrow: (desk) => new ArrowTool(desk, "end"),
  line: (desk) => new ArrowTool(desk, "none"),
  ink: (desk) => new InkTool(desk),
  text: (desk) => new TextTool(desk),
  sticky: (desk) => new StickyTool(desk),
  frame: (desk) => new FrameTool(desk),
  eraser: (desk) => new EraserTool(desk),
  acting: (desk) => new ActingTool(desk),
};

export function makeTool(name: ToolName, desk: Desk): Tool {
  return MAKERS[name](desk);
}
