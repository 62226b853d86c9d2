/** Sky, light and haze of the room: quiet by day, and by night bright enough to read. */

import {
  BackSide,
  BufferAttribute,
  Color,
  DirectionalLight,
  Fog,
  Group,
  HemisphereLight,
  Mesh,
  MeshBasicMaterial,
  type Scene,
  SphereGeometry,
} from "three";
import type { Theme } from "../../board/model/palette";

const DAY = { top: "#a9c6ee", low: "#eef3fa", sun: 1.2, sky: 2.2, ground: "#c9ccd6" } as const;
const NIGHT = { top: "#0a0e18", low: "#1b2231", sun: 1.1, sky: 2.3, ground: "#3a4150" } as const;
const RADIUS = 190;
const HAZE = [30, 95] as const;

export class Sky {
  readonly group = new Group();
  private readonly dome: Mesh<SphereGeometry, MeshBasicMaterial>;
  private readonly sky = new HemisphereLight("#ffffff", "#ffffff", 1);
  private readonly sun = new DirectionalLight("#fffaf2", 1);
  private readonly fog = new Fog("#ffffff", HAZE[0], HAZE[1]);

  constructor(scene: Scene) {
    const sphere = new SphereGeometry(RADIUS, 24, 16);
    const count = sphere.getAttribute("position").count;
    sphere.setAttribute("color", new BufferAttribute(new Float32Array(count * 3), 3));
    const material = new MeshBasicMaterial({
      vertexColors: true,
      side: BackSide,
      fog: false,
      depthWrite: false,
    });
    this.dome = new Mesh(sphere, material);
    this.dome.renderOrder = -1;
    this.sun.position.set(-6, 14, 9);
    scene.fog = this.fog;
    this.group.add(this.dome, this.sky, this.sun);
  }

  recolour({ isDark }: Theme): void {
    const now = isDark ? NIGHT : DAY;
    const [top, low] = [new Color(now.top), new Color(now.low)];
    const places = this.dome.geometry.getAttribute("position");
    const colours = this.dome.geometry.getAttribute("color");
    const colour = new Color();
    for (let at = 0; at < places.count; at++) {
      const share = Math.min(1, Math.max(0, places.getY(at) / RADIUS) ** 0.6);
      colour.copy(low).lerp(top, share);
      colours.setXYZ(at, colour.r, colour.g, colour.b);
    }
    colours.needsUpdate = true;
    this.fog.color.set(now.low);
    this.sky.color.set("#ffffff");
    this.sky.groundColor.set(now.ground);
    this.sky.intensity = now.sky;
    this.sun.intensity = now.sun;
  }

  /** The sky goes along with who sees it. */
  follow(x: number, y: number): void {
    this.dome.position.set(x, 0, y);
  }

  dispose(): void {
    this.dome.geometry.dispose();
    this.dome.material.dispose();
  }
}
