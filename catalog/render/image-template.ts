import { goQuote } from '../../api/go-quote.ts';
import { errorMessage, TerminalError } from '../../core/errors.ts';
import type { BundleFacts } from './bundle/bundle-directory.ts';

/** Makes the reference of a bundle's image from facts of the bundle. */
export type ImageTemplate = (facts: BundleFacts) => string;

const action = /\{\{(-\s+)?([\s\S]*?)(\s+-)?\}\}/g;

/**
 * Parses a template for image references: text with `{{.Package}}`, `{{.Name}}` and `{{.Version}}`,
 * `{{- … -}}` that drops white space around it, and comments.
 * @throws TerminalError `invalid image reference template: …`
 */
export function imageTemplate(source: string): ImageTemplate {
  const parts = partsOf(source);
  return (facts) => parts.map((part) => (typeof part === 'string' ? part : part(facts))).join('');
}

function partsOf(source: string): readonly (string | ImageTemplate)[] {
  const parts: (string | ImageTemplate)[] = [];
  let end = 0;
  let trim = false;
  for (const match of source.matchAll(action)) {
    const [whole, before, content = '', after] = match;
    parts.push(literal(source.slice(end, match.index), { start: trim, end: before !== undefined }));
    parts.push(fieldOf(content.trim(), source.slice(0, match.index)));
    end = match.index + whole.length;
    trim = after !== undefined;
  }
  const rest = source.slice(end);
  if (rest.includes('{{')) throw invalid(source.slice(0, end), 'unclosed action');
  return [...parts, literal(rest, { start: trim, end: false })];
}

function literal(text: string, trim: { readonly start: boolean; readonly end: boolean }): string {
  const started = trim.start ? text.trimStart() : text;
  return trim.end ? started.trimEnd() : started;
}

function fieldOf(content: string, before: string): string | ImageTemplate {
  if (/^\/\*[\s\S]*\*\/$/.test(content)) return '';
  if (content === '') throw invalid(before, 'missing value for command');
  const [, name] = /^\.([A-Za-z_][A-Za-z0-9_]*)$/.exec(content) ?? [];
  if (name === undefined) {
    const known = 'a field, {{.Package}}, {{.Name}} or {{.Version}}';
    throw invalid(before, `${goQuote(`{{${content}}}`)} is not ${known}`);
  }
  return (facts) => valueOf(name, facts, before);
}

function valueOf(name: string, facts: BundleFacts, before: string): string {
  if (name === 'Package') return facts.package;
  if (name === 'Name') return facts.name;
  if (name === 'Version') return facts.version;
  throw new TerminalError(
    `template: ${place(before)}:${column(before) + 2}: executing "image-ref-template" at <.${name}>: can't evaluate field ${name} in type action.imageReferenceTemplateData`,
  );
}

function place(before: string): string {
  return `image-ref-template:${before.split('\n').length}`;
}

function column(before: string): number {
  return before.length - (before.lastIndexOf('\n') + 1);
}

function invalid(before: string, problem: string): TerminalError {
  return new TerminalError(
    `invalid image reference template: template: ${place(before)}: ${problem}`,
  );
}

/** Makes the image of a bundle in a directory; empty without a template. */
export function templatedImage(template: ImageTemplate | undefined, dir: string): ImageTemplate {
  if (template === undefined) return () => '';
  return (facts) => {
    try {
      return template(facts);
    } catch (error) {
      throw new TerminalError(
        `failed templating image reference from bundle for ${goQuote(dir)}: ${errorMessage(error)}`,
        { cause: error },
      );
    }
  };
}
