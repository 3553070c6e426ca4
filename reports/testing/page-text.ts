/** What a rendered page says, in one line. */
export const textOf = (html: string): string =>
  html
    .slice(html.indexOf("<main"))
    .replace(/<script>.*?<\/script>/gs, "")
    .replace(/<[^>]*>/g, " ")
    .replace(/\s+/g, " ");
