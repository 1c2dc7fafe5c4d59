import { styleText } from 'node:util';

export type Colour = Extract<Parameters<typeof styleText>[0], string>;

/** The parts of an output stream that say whether a person is looking at it. */
export interface Screen {
  readonly isTTY?: boolean | undefined;
}

/** Files, pipes and who sets NO_COLOR (https://no-color.org) get no escape sequences. */
export function showsColour({ isTTY }: Screen, env: NodeJS.ProcessEnv = process.env): boolean {
  return isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
}

/** The text with the escape sequences of a colour, whoever reads it. */
export function coloured(colour: Colour, text: string): string {
  return styleText(colour, text, { validateStream: false });
}
